import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import { type ErasureHook, foundRows, makeScrubber, togetherFound } from "../../../event-log/erasure/ErasureHooks.ts"
import { unnestRows } from "../../../platform/postgres/UnnestRows.ts"

/** Members of firings and commands that rules are evaluated and commands executed by. */
const KEEP = new Set([
  ...["id", "ruleId", "measure", "per", "window", "period", "severity", "runId", "status", "startsAt", "type"]
])

interface FiringRow {
  readonly id: string
  readonly firing: string
  readonly note: string | null
}

interface CommandRow {
  readonly id: string
  readonly command: string
  readonly error: string | null
}

/** Removes texts from the firings of a run, open ones too, and from their commands. An open firing stays open. */
export const makeAlertErasure = Effect.map(
  PgClient.PgClient,
  (sql): ErasureHook =>
    Effect.fnUntraced(function* ({ finder, isDryRun, runId }) {
      const firings = yield* sql<FiringRow>`
        SELECT id::text AS id, firing::text AS firing, note FROM alert_firings WHERE run_id = ${runId}::uuid`
      const firingScrubber = makeScrubber(finder, KEEP)
      const changedFirings = firingScrubber.changed(firings, ({ firing, id, note }) => ({
        id,
        firing: firingScrubber.json(firing),
        note: firingScrubber.text(note)
      }))
      const commands = yield* sql<CommandRow>`
        SELECT id::text AS id, command::text AS command, error FROM alert_commands WHERE run_id = ${runId}::uuid`
      const commandScrubber = makeScrubber(finder, KEEP)
      const changedCommands = commandScrubber.changed(commands, ({ command, error, id }) => ({
        id,
        command: commandScrubber.json(command),
        error: commandScrubber.text(error)
      }))
      if (changedFirings.length > 0 && !isDryRun) {
        yield* sql`
          UPDATE alert_firings f SET firing = c.firing, note = c.note
          FROM ${unnestRows(sql, changedFirings, { id: "uuid", firing: "json", note: "text" })} AS c WHERE f.id = c.id`
      }
      if (changedCommands.length > 0 && !isDryRun) {
        yield* sql`
          UPDATE alert_commands a SET command = c.command, error = c.error
          FROM ${unnestRows(sql, changedCommands, { id: "uuid", command: "json", error: "text" })} AS c
          WHERE a.id = c.id`
      }
      return togetherFound([
        foundRows("alert", changedFirings.length, firingScrubber.kept()),
        foundRows("command", changedCommands.length, commandScrubber.kept())
      ])
    })
)
