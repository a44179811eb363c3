{{- define "concilia.labels" -}}
app.kubernetes.io/name: concilia
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "concilia.container" -}}
name: concilia
image: "{{ required "image.repository is missing" .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
env:
  {{- with .role }}
  - { name: ROLES, value: {{ . }} }
  {{- end }}
  - { name: MIGRATE_ON_START, value: "false" }
  {{- range $name, $value := .Values.settings }}
  - { name: {{ $name }}, value: {{ required (print "settings." $name " is missing") $value | toString | quote }} }
  {{- end }}
  {{- range .Values.secrets.settings }}
  - { name: {{ . }}_FILE, value: /run/secrets/concilia/{{ . }} }
  {{- end }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: secrets, mountPath: /run/secrets/concilia, readOnly: true }
  - { name: tmp, mountPath: /tmp }
{{- end }}

{{- define "concilia.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
volumes:
  - name: secrets
    secret: { secretName: {{ .Values.secrets.name }}, defaultMode: 288 } # 0440
  # Uploads are received there.
  - { name: tmp, emptyDir: { sizeLimit: 1Gi } }
{{- end }}
