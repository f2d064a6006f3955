import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { forever } from "../loops/Forever.ts"
import type { AccountState, RequestBudget, Spent } from "./RequestBudget.ts"

/** Milliseconds between two exchanges of counts between processes. */
export const EXCHANGE_MS = 1_000

/**
 * Sends the counts of this process to the others, and returns the counts of the same clients in all processes; fails
 * with the reason. Undefined, the default: this process counts for itself (docs/reference/http.md#rate-limit).
 */
export const BudgetExchange = Context.Reference<
  ((spent: ReadonlyArray<Spent>) => Effect.Effect<ReadonlyArray<AccountState>, string>) | undefined
>("runplane/server/BudgetExchange", { defaultValue: () => undefined })

/**
 * Keeps budgets in step with those of the other processes while the scope is open, by one exchange a second for all
 * clients that sent something. No request waits for it. While it does not work, each process counts for itself, and
 * sends the counts later.
 */
export const keepInStep = Effect.fnUntraced(function* (budgets: Readonly<Record<string, RequestBudget>>) {
  const exchange = yield* BudgetExchange
  if (exchange === undefined) return

  const once = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const taken = Object.entries(budgets).map(([name, budget]) => ({ name, budget, spent: budget.takeSpent(now) }))
    const unsent = taken.flatMap(({ name, spent }) =>
      spent.map((entry) => ({ ...entry, client: `${name} ${entry.client}` }))
    )
    if (unsent.length === 0) return
    const states = yield* Effect.onError(exchange(unsent), () =>
      Effect.sync(() => {
        for (const { budget, spent } of taken) budget.putBack(spent)
      })
    )
    const then = yield* Clock.currentTimeMillis
    for (const { client, ...state } of states) {
      const [name = "", ...rest] = client.split(" ")
      budgets[name]?.settle({ ...state, client: rest.join(" ") }, then)
    }
  })
  const pauses = { every: EXCHANGE_MS, first: EXCHANGE_MS, backoff: { firstMs: EXCHANGE_MS, longestMs: EXCHANGE_MS } }
  yield* Effect.forkScoped(forever("rate-limits", once, pauses))
})
