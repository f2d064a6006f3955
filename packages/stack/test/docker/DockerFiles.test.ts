import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"

const ROOT = join(import.meta.dirname, "../../../..")
const read = (path: string) => readFileSync(join(ROOT, path), "utf8")
const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].flatMap(([, found]) => found ?? [])

const METRIC_SOURCES = [
  "packages/control-plane/src/platform/metrics/Metrics.ts",
  "packages/server/src/metrics/ServiceRegistry.ts",
  "packages/server/src/loops/Loops.ts"
]
const served = new Set(METRIC_SOURCES.flatMap((path) => all(read(path), /"([a-z]+(?:_[a-z]+)+)"/g)))
const settings = new Set(all(read("docs/reference/settings.md"), /^\| `([A-Z][A-Z0-9_]*)`/gm))

/** Of a histogram, PromQL names the series; of the process, prom-client brings the metrics; `up` is Prometheus' own. */
const isServed = (metric: string) =>
  metric === "up" || /^(process|nodejs)_/.test(metric) || served.has(metric.replace(/_(bucket|sum|count)$/, ""))

const FUNCTIONS = new Set(["histogram_quantile", "label_values"])
const metricsOf = (expression: string) =>
  all(
    expression.replaceAll(/"[^"]*"|\{[^}]*\}|\b(?:by|on)\s*\([^)]*\)/g, " "),
    /\b([a-z]+(?:_[a-z0-9]+)+|up)\b/g
  ).filter((name) => !FUNCTIONS.has(name))

describe("docker/monitoring", () => {
  const rules = read("docker/helm/runplane/files/rules.yml")

  it("names a section of the operations guide for each alert", () => {
    const sections = new Set(
      all(read("docs/reference/operations.md"), /^### (\S+)$/gm).map((title) => title.toLowerCase())
    )
    const alerts = all(rules, /alert: (\S+)/g)
    const [repository = ""] = all(read("scripts/build.mjs"), /url: "git\+(\S+)\.git"/g)
    assert.deepStrictEqual(
      all(rules, /runbook_url: (\S+)/g),
      alerts.map((alert) => `${repository}/blob/main/docs/reference/operations.md#${alert.toLowerCase()}`)
    )
    assert.deepStrictEqual(
      alerts.filter((alert) => !sections.has(alert.toLowerCase())),
      []
    )
  })

  for (const file of readdirSync(join(ROOT, "docker/monitoring/dashboards"))) {
    it(`draws metrics that the services have: ${file}`, () => {
      const dashboard: unknown = JSON.parse(read(`docker/monitoring/dashboards/${file}`))
      const expressions = all(JSON.stringify(dashboard), /"expr":"((?:[^"\\]|\\.)*)"/g).map((text) =>
        text.replaceAll('\\"', '"')
      )
      assert.isAbove(expressions.length, 5)
      const named = expressions.flatMap(metricsOf)
      assert.isAbove(named.length, 5)
      assert.deepStrictEqual(
        named.filter((metric) => !isServed(metric)),
        []
      )
    })
  }
})

describe("the pages", () => {
  /** Settings of Node, TLS libraries, glibc and the reference runtime, what compose takes, error codes. */
  const foreign = new RegExp(
    `^(${[
      ...["NODE_EXTRA_CA_CERTS", "NODE_OPTIONS", "NODE_COMPILE_CACHE", "SSL_CERT_(FILE|DIR)", "GRPC_.*", "MALLOC_.*"],
      ...[
        "MACP_.*",
        "RUNPLANE_KEYS?",
        "POSTGRES_(?:DATABASE|PASSWORD)",
        "SESSION_LOST",
        "RUNTIME_TIMEOUT",
        "AUTH_MINT_FAILED"
      ]
    ].join("|")})$`
  )

  for (const page of ["deploy.md", "operations.md"]) {
    it(`name settings that exist: ${page}`, () => {
      const text = read(`docs/reference/${page}`)
      const named = [
        ...all(text, /^ {4}([A-Z][A-Z0-9_]*)=/gm),
        ...all(text, /`([A-Z]+_[A-Z0-9_]*[A-Z0-9])(?:=[^`]*)?`/g)
      ]
      assert.isAbove(named.length, 10)
      assert.deepStrictEqual(
        named.filter((name) => !settings.has(name) && !foreign.test(name)),
        []
      )
    })
  }
})

describe("docker", () => {
  const compose = read("docker/compose.yaml") + read("docker/compose.monitoring.yaml")
  const chart = readdirSync(join(ROOT, "docker/helm/runplane/templates")).map((file) =>
    read(`docker/helm/runplane/templates/${file}`)
  )
  /** Of the images of PostgreSQL and Jaeger, not ours. */
  const foreign = new Set([
    "POSTGRES_USER",
    "POSTGRES_DB",
    "POSTGRES_PASSWORD",
    "COLLECTOR_OTLP_ENABLED",
    "COLLECTOR_OTLP_HTTP_HOST_PORT"
  ])

  it("sets settings that exist", () => {
    const named = [
      ...all(compose, /^ {4,6}([A-Z][A-Z0-9_]*):/gm),
      ...all(chart.join("\n"), /- name: ([A-Z][A-Z0-9_]*)/g),
      // What the chart sets unless the values say something else.
      ...all(chart.join("\n"), /(?:^ +|set \$chart )"([A-Z][A-Z0-9_]*)" /gm)
    ]
    assert.isAbove(named.length, 20)
    assert.deepStrictEqual(
      named.filter((name) => !settings.has(name) && !foreign.has(name)),
      []
    )
  })

  it("interpolates settings that exist, and its own names", () => {
    /** What both services get, the image, the database, and the password of the PostgreSQL image. */
    const own = new Set(["RUNPLANE_KEYS", "RUNPLANE_KEY", "RUNPLANE_IMAGE", "POSTGRES_DATABASE", "POSTGRES_PASSWORD"])
    const named = all(compose, /\$\{([A-Z][A-Z0-9_]*)/g)
    assert.isAbove(named.length, 8)
    assert.deepStrictEqual(
      named.filter((name) => !settings.has(name) && !own.has(name)),
      []
    )
  })

  /** What a browser gets from a service must be named wherever a team's set-up is described. */
  const publicAddresses = {
    "control-plane": ["LAUNCHER_PUBLIC_URL"],
    launcher: ["CONTROL_PLANE_PUBLIC_URL", "CORS_ORIGIN"]
  }

  it("sets the public addresses of both services in compose, chart and page", () => {
    const page = read("docs/reference/deploy.md")
    const sections = {
      "control-plane": /^### Control planes\n([\s\S]*?)^###/m,
      launcher: /^### Launch service\n([\s\S]*?)^###/m
    }
    const services = {
      "control-plane": /^x-control-plane: ([\s\S]*?)^services:/m,
      launcher: /^ {2}launcher:\n([\s\S]*?)^ {2}\w/m
    }
    for (const part of ["control-plane", "launcher"] as const) {
      const template = read(`docker/helm/runplane/templates/${part}.yaml`)
      const [service = ""] = services[part].exec(read("docker/compose.yaml")) ?? []
      const [section = ""] = sections[part].exec(page) ?? []
      for (const name of publicAddresses[part]) {
        assert.include(template, `"${name}"`)
        assert.match(service, new RegExp(`^ +${name}: \\$\\{${name}:-http://localhost:800[01]\\}$`, "m"))
        assert.match(section, new RegExp(`^ {4}${name}=https://`, "m"))
      }
    }
  })

  it("knows the commands that compose and the chart give", () => {
    // All others are commands of `runplane`.
    assert.include(read("docker/entrypoint"), '*) exec node lib/runplane.js "$command" "$@"')
    const commands = ["migrate", ...all(read("docker/entrypoint"), /^ {2}([a-z| -]+)\)/gm)].flatMap((list) =>
      list.split(" | ")
    )
    const given = [...all(compose, /command: \[([a-z-]+)\]/g), ...all(chart.join("\n"), /args: \[([a-z-]+)\]/g)]
    assert.isAbove(given.length, 4)
    assert.deepStrictEqual(
      given.filter((command) => !commands.includes(command)),
      []
    )
  })

  it("starts programs that are bundled", () => {
    const started = all(read("docker/entrypoint"), /exec node (?:scripts\/heap\/start\.mjs )?lib\/([a-z-]+)\.js/g)
    const [services = ""] = all(
      read("docker/entrypoint"),
      /^ {2}([a-z| -]+)\) exec node scripts\/heap\/start\.mjs "lib\/\$command\.js"/gm
    )
    const bundled = new Set(all(read("scripts/build/programs.mjs"), /^ {2}"?([a-z-]+)"?: "packages\/.+\/main\.ts"/gm))
    assert.lengthOf(started, 2)
    assert.deepStrictEqual(
      [...started, ...services.split(" | ")].filter((program) => !bundled.has(program)),
      []
    )
  })

  it("mounts files that are there", () => {
    const mounted = all(compose, /"?\.\/([\w./-]+):\//g)
    assert.isAbove(mounted.length, 4)
    for (const path of mounted) assert.isNotEmpty(readdirSync(join(ROOT, "docker", path, "..")))
  })
})
