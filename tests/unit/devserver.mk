unit_devserver =
