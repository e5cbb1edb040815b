module drtmx

go 1.26.0
