import { cpSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { temporaryFolder } from "@runplane/postgres"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const PACKS = fileURLToPath(new URL("../../../../packs", import.meta.url))
const IDLE = fileURLToPath(new URL("../fixtures/idle-agent.ts", import.meta.url))

/** Agents of the scenario `incident/region-failover`, the first one opens the session. */
export const INITIATOR = "commander-agent"
export const SPECIALISTS = ["replication-agent", "impact-agent", "security-agent"] as const

/** How an agent is started instead of as its manifest says. */
export interface Change {
  /** An agent that never says anything, with these arguments. */
  readonly idle?: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
}

const decodeManifest = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.StructWithRest(Schema.Struct({ host: Schema.JsonObject }), [Schema.JsonObject]))
)

/** A copy of the packs in which agents are started in another way; it is gone with the scope. */
export const packsWith = Effect.fnUntraced(function* (changes: Readonly<Record<string, Change>>) {
  const folder = yield* temporaryFolder
  cpSync(PACKS, folder, { recursive: true })
  for (const [agentRef, { env = {}, idle }] of Object.entries(changes)) {
    const file = join(folder, "_agents", "manifests", `${agentRef}.json`)
    const manifest = decodeManifest(readFileSync(file, "utf8"))
    const started =
      idle === undefined
        ? { ...manifest, host: { ...manifest.host, env } }
        : { ...manifest, entrypoint: { type: "node_file", value: IDLE }, host: { cwd: ".", args: idle, env } }
    writeFileSync(file, JSON.stringify(started))
  }
  return folder
})
