import { cpSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { temporaryFolder } from "@runplane/postgres"
import { createDatabase, freePorts } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ROOT } from "../support/DocumentBlocks.ts"
import { commandFolder, faultsOfGuide } from "../support/GuideRun.ts"
import { oldestNode } from "../support/OldestNode.ts"
import { startStack } from "../support/StackProcess.ts"

const guides = readdirSync(join(ROOT, "docs/guides")).filter((name) => /(?<!^README)\.md$/.test(name))

/** These guides start services themselves, with a database and ports of their own. */
const ON_ITS_OWN = new Set(["agent.md", "deploy.md"])

/** The ports in the guides: of the three services, and of a receiver of webhooks. */
const PORTS = ["3000", "3001", "50051", "8099"] as const

// docs/guides/README.md
layer(Layer.empty, { excludeTestServices: true })("the guides", (it) => {
  it.effect("show the output of their commands, each from an empty folder", () =>
    Effect.gen(function* () {
      const packs = join(yield* temporaryFolder, "packs")
      cpSync(join(ROOT, "packs"), packs, { recursive: true })
      const archive = { ARCHIVE_URL: `file://${yield* temporaryFolder}`, ARCHIVE_INTERVAL_MS: "1000" }
      const database = yield* createDatabase
      const databases = { DATABASE_URL: database, LAUNCHER_DATABASE_URL: database }
      const stack = { PACKS_DIR: packs, A2A_ENABLED: "true", ...databases, ...archive }
      const { line, ports } = yield* startStack({ env: stack })
      assert.isDefined(yield* line("Serving"))
      const commands = yield* commandFolder
      const node = yield* oldestNode

      const run = Effect.fnUntraced(function* (guide: string) {
        const alone = ON_ITS_OWN.has(guide)
        const [launcher = 0, controlPlane = 0, runtime = 0, receiver = 0] = yield* freePorts(PORTS.length)
        const here = alone ? { launcher, controlPlane, sandbox: runtime } : ports
        const env = {
          PATH: `${commands}:${node}:${process.env["PATH"]}`,
          CHECKOUT: ROOT,
          RUNPLANE_URL: `http://127.0.0.1:${here.controlPlane}`,
          RUNPLANE_LAUNCHER_URL: `http://127.0.0.1:${here.launcher}`,
          // A service refuses the archive of another database.
          ...(!alone && { ARCHIVE_URL: archive.ARCHIVE_URL }),
          ...(alone && {
            DATABASE_URL: yield* createDatabase,
            LAUNCHER_PORT: String(launcher),
            CONTROL_PLANE_PORT: String(controlPlane),
            OTLP_GRPC_PORT: "0",
            SANDBOX_PORT: String(runtime)
          })
        }
        const renamed = [here.launcher, here.controlPlane, here.sandbox, receiver]
        const names = Object.fromEntries(PORTS.map((port, index) => [port, renamed[index] ?? 0]))
        return yield* faultsOfGuide({ guide, env, ports: names })
      })
      const faults = yield* Effect.forEach(guides, run, { concurrency: 2 })
      assert.deepStrictEqual(faults.flat(), [])
    })
  )
})
