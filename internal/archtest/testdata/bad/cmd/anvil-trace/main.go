// Command anvil-trace needs cgo by way of a package.
package main

import _ "example.org/bad/store"

func main() {}
