# Two units from one text: operatord.service, and operatord@.service for several of them on one machine.
systemd_units = systemd/operatord.service systemd/operatord@.service
systemd_paths = -e 's|@sbindir[@]|$(sbindir)|' -e 's|@bindir[@]|$(bindir)|' -e 's|@sysconfdir[@]|$(sysconfdir)|'
systemd_tmpfiles = systemd/tmpfiles.d/operatord.conf
EXTRA_DIST += systemd/operatord.service.in systemd/tmpfiles.d/operatord.conf.in
CLEANFILES += $(systemd_units) $(systemd_tmpfiles)

if WITH_SYSTEMD
systemdsystemunit_DATA = $(systemd_units)
dist_sysusers_DATA = systemd/sysusers.d/operatord.conf
tmpfiles_DATA = $(systemd_tmpfiles)
endif

systemd/tmpfiles.d/operatord.conf: systemd/tmpfiles.d/operatord.conf.in Makefile
	$(AM_V_GEN)$(MKDIR_P) systemd/tmpfiles.d && sed $(systemd_paths) $(srcdir)/systemd/tmpfiles.d/operatord.conf.in >$@.tmp && mv $@.tmp $@

systemd/operatord.service: systemd/operatord.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) systemd && sed $(systemd_paths) -e 's|@directory[@]|operatord|' -e 's|@runtime[@]|operatord|' \
		-e 's|@unit[@]|operatord.service|' -e 's|@description[@]|Kubernetes operators from one YAML file|' \
		-e 's|@note[@]|Changes belong into a drop-in: systemctl edit operatord.service|' \
		$(srcdir)/systemd/operatord.service.in >$@.tmp && mv $@.tmp $@
systemd/operatord@.service: systemd/operatord.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) systemd && sed $(systemd_paths) -e 's|@directory[@]|operatord/%i|' -e 's|@runtime[@]|operatord-%i|' \
		-e 's|@unit[@]|operatord@%i.service|' -e 's|@description[@]|Kubernetes operators from one YAML file (%i)|' \
		-e 's|@note[@]|operatord@NAME.service runs $(sysconfdir)/operatord/NAME/operatord.yaml; each needs its own instance: and http.listen.|' \
		$(srcdir)/systemd/operatord.service.in >$@.tmp && mv $@.tmp $@
