module lapel

go 1.19
