{{- define "runplane.name" -}}
{{- printf "%s-%s" .root.Release.Name .part | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "runplane.selector" -}}
app.kubernetes.io/name: runplane
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{- define "runplane.labels" -}}
{{ include "runplane.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "runplane.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{/* What every container of the image is held to. */}}
{{- define "runplane.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
runAsUser: 65532
capabilities: { drop: [ALL] }
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{/* Of the pods of one part: where their image may be pulled with, and where they may run. */}}
{{- define "runplane.pod" -}}
automountServiceAccountToken: false
# The variables of links to services look like misspelt settings.
enableServiceLinks: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "runplane.database" -}}
- name: DATABASE_URL
  valueFrom: { secretKeyRef: { name: {{ .Values.secrets.database }}, key: url } }
{{- end -}}

{{/* What the chart sets where `env` of the values says nothing else. */}}
{{- define "runplane.env" -}}
{{- range $name, $value := merge (deepCopy .env) .chart }}
- name: {{ $name }}
  {{- /* A large number must not become 1e+06. */}}
  value: {{ ternary (int64 $value) $value (and (kindIs "float64" $value) (eq (floor $value) $value)) | toString | quote }}
{{- end }}
{{- end -}}

{{/* The address of a host of the Ingress, as browsers reach it. */}}
{{- define "runplane.publicUrl" -}}
{{ ternary "https" "http" (ne .root.Values.ingress.tlsSecret "") }}://{{ .host }}
{{- end -}}
