unit_ctl =
