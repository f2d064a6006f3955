import { type ComponentType, type LazyExoticComponent, lazy } from "react"
import { connection } from "../client/Connection.ts"

/** Between two attempts to load a part of the page. Milliseconds. */
const PAUSE_MS = 1_000
/** Attempts while the service answers: a part that is still missing then has gone with an earlier version. */
const MOST_ATTEMPTS = 5

interface Part<Properties> {
  readonly default: ComponentType<Properties>
}

const isAway = () => ["reconnecting", "unreachable", "waiting"].includes(connection.get().state)

/**
 * A part of the page that is loaded when it is first shown. React keeps a failure for ever, so the load is retried
 * while the service is away.
 */
export const lazily = <Properties>(
  load: () => Promise<Part<Properties>>
): LazyExoticComponent<ComponentType<Properties>> =>
  lazy(async () => {
    // Attempts while the service was away do not count: one of them may end after the service has answered again.
    for (let failures = 0; ; ) {
      try {
        return await load()
      } catch (error) {
        failures = isAway() ? 0 : failures + 1
        if (failures >= MOST_ATTEMPTS) throw error
      }
      await new Promise((resume) => setTimeout(resume, PAUSE_MS))
    }
  })
