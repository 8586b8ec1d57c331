/* SPDX-License-Identifier: Apache-2.0 */
/* Names that operatord writes on the cluster. Frozen from the first release: objects in clusters carry them. */
#ifndef COMMON_KUBE_NAMES_H
#define COMMON_KUBE_NAMES_H

#define NAME_PREFIX            "operatord.io"
#define LABEL_MANAGED_BY       "app.kubernetes.io/managed-by"
#define LABEL_MANAGED_BY_VALUE "operatord"
#define LABEL_INSTANCE         NAME_PREFIX "/instance"
#define LABEL_CONTROLLER       NAME_PREFIX "/controller"
#define LABEL_CHILD            NAME_PREFIX "/child"
#define LABEL_OWNER_UID        NAME_PREFIX "/owner-uid"
#define ANNOTATION_PAUSED      NAME_PREFIX "/paused"
#define ANNOTATION_DELETION    NAME_PREFIX "/deletion" /* on children: "retain", where the configuration says so */
#define FINALIZER_PREFIX       NAME_PREFIX "/" /* operatord.io/INSTANCE.CONTROLLER, at most 63 bytes behind the slash */
#define ANNOTATION_RECONCILE_ID NAME_PREFIX "/reconcile-id" /* on Events: the ID in the log */
#define FIELD_MANAGER_PREFIX   "operatord/" /* operatord/INSTANCE/CONTROLLER, at most 128 bytes */
#define REPORTING_CONTROLLER   NAME_PREFIX "/" /* operatord.io/CONTROLLER */

#endif
