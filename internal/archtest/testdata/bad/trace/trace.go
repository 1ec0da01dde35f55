package trace

import _ "example.org/bad/store"
