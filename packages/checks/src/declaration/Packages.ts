/** Which packages a package may import. */
export const ARROWS: Readonly<Record<string, ReadonlyArray<string>>> = {
  checks: [],
  domain: [],
  postgres: [],
  prices: ["domain"],
  otlp: ["domain"],
  archive: ["domain"],
  testing: ["postgres"],
  api: ["domain"],
  runtime: ["domain"],
  mcp: ["api", "domain"],
  server: ["api", "domain"],
  database: ["server"],
  agents: ["runtime", "domain"],
  sandbox: ["runtime", "domain", "server"],
  "control-plane": ["api", "archive", "database", "domain", "mcp", "otlp", "prices", "runtime", "server"],
  launcher: ["api", "database", "domain", "runtime", "sandbox", "server", "agents"],
  cli: ["api", "archive", "domain", "mcp", "prices"],
  console: ["api", "domain"],
  site: [],
  stack: [
    "cli",
    "api",
    "archive",
    "domain",
    "postgres",
    "runtime",
    "server",
    "agents",
    "sandbox",
    "control-plane",
    "launcher"
  ],
  bench: [
    "api",
    "domain",
    "postgres",
    "prices",
    "runtime",
    "server",
    "agents",
    "sandbox",
    "control-plane",
    "launcher",
    "stack"
  ]
}

/**
 * What the tests of a package may import besides: the example agents are tested against the runtime they are made for,
 * the control plane against a database; `testing` is what the tests of several packages share.
 */
export const TEST_ARROWS: Readonly<Record<string, ReadonlyArray<string>>> = {
  agents: ["sandbox", "testing"],
  archive: ["testing"],
  cli: ["testing"],
  console: ["testing"],
  "control-plane": ["postgres", "testing"],
  otlp: ["testing"],
  launcher: ["testing"],
  server: ["testing"],
  stack: ["testing"]
}
