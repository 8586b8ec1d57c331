unit_kube =
