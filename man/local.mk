# scripts/man-keys writes the keys of operatord.yaml.5 from what operatord --schema prints.
dist_man_MANS += man/operatord.8 man/operatorctl.1 man/operatord-devserver.1 man/operatord.yaml.5
