module example.org/bad

go 1.26
