import { completions } from "./Completions.ts"
import { events } from "./Events.ts"
import { launch } from "./Launch.ts"
import { ledger } from "./Ledger.ts"
import { policies } from "./Policies.ts"
import { processes } from "./Processes.ts"
import { runs } from "./Runs.ts"
import { scenarios } from "./Scenarios.ts"
import { verify } from "./Verify.ts"
import { webhooks } from "./Webhooks.ts"

/** The commands that need nothing but the services' addresses. */
export const clientCommands = [
  ...[runs, launch, scenarios, processes, events],
  ...[policies, webhooks, verify, ledger, completions]
] as const
