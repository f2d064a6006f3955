/** How many requests a client may make in how long. */
export interface Budget {
  readonly limit: number
  /** Milliseconds. */
  readonly windowMs: number
}

export type Spending =
  | { readonly allowed: true; readonly remaining: number; readonly resetMs: number }
  | { readonly allowed: false; readonly retryAfterMs: number }

/** An account: its spent requests, and the remaining times of their window and of a refusal, in milliseconds. */
export interface AccountState {
  readonly client: string
  readonly spent: number
  readonly windowMs: number
  readonly blockedMs: number
}

/** The requests of an account since the last exchange. */
export type Spent = AccountState

interface Account {
  spent: number
  /** The part of `spent` that the other processes have not received. */
  unsent: number
  windowEnd: number
  blockedUntil: number
}

/** Accounts kept before expired ones are swept out, so that many clients cannot fill the memory. */
export const MAX_ACCOUNTS = 10_000

/**
 * Counts requests by client: a window opens with a client's first request, and a client that exceeds its limit is
 * refused until a whole window has passed since the excess (docs/reference/http.md#rate-limit).
 */
export const makeRequestBudget = (budget: Budget, maxAccounts: number = MAX_ACCOUNTS) => {
  const accounts = new Map<string, Account>()
  const unsent = new Set<string>()

  const isOver = (account: Account, now: number) => now >= Math.max(account.windowEnd, account.blockedUntil)

  const accountOf = (client: string, now: number): Account => {
    const known = accounts.get(client)
    if (known !== undefined && !isOver(known, now)) return known
    const fresh = { spent: 0, unsent: 0, windowEnd: now + budget.windowMs, blockedUntil: 0 }
    // Taken out first, so that the map stays in the order in which the windows opened.
    accounts.delete(client)
    if (accounts.size >= maxAccounts) evict(now)
    accounts.set(client, fresh)
    return fresh
  }

  const forget = (client: string) => {
    accounts.delete(client)
    unsent.delete(client)
  }

  const evict = (now: number) => {
    for (const [client, account] of accounts) if (isOver(account, now)) forget(client)
    for (const client of accounts.keys()) {
      if (accounts.size < maxAccounts) break
      forget(client)
    }
  }

  return {
    /** Takes a request from the client's budget, which counts as `cost` of them. Times are Unix milliseconds. */
    spend: (client: string, now: number, cost = 1): Spending => {
      const account = accountOf(client, now)
      if (now < account.blockedUntil) return { allowed: false, retryAfterMs: account.blockedUntil - now }
      account.spent += cost
      account.unsent += cost
      unsent.add(client)
      if (account.spent > budget.limit) {
        account.blockedUntil = now + budget.windowMs
        return { allowed: false, retryAfterMs: budget.windowMs }
      }
      return { allowed: true, remaining: budget.limit - account.spent, resetMs: account.windowEnd - now }
    },
    /** The requests since the last call, of every account that still counts. */
    takeSpent: (now: number): ReadonlyArray<Spent> => {
      const taken: Array<Spent> = []
      for (const client of unsent) {
        const account = accounts.get(client)
        if (account === undefined || isOver(account, now)) continue
        const windowMs = Math.max(0, account.windowEnd - now)
        taken.push({ client, spent: account.unsent, windowMs, blockedMs: Math.max(0, account.blockedUntil - now) })
        account.unsent = 0
      }
      unsent.clear()
      return taken
    },
    /** Puts back taken counts that could not be sent. */
    putBack: (spent: ReadonlyArray<Spent>) => {
      for (const { client, spent: count } of spent) {
        const account = accounts.get(client)
        if (account === undefined) continue
        account.unsent += count
        unsent.add(client)
      }
    },
    /** Adopts the count of an account in all processes, and adds the requests since the last exchange. */
    settle: (state: AccountState, now: number) => {
      const account = accounts.get(state.client)
      if (account === undefined) return
      account.spent = state.spent + account.unsent
      account.windowEnd = now + state.windowMs
      account.blockedUntil = state.blockedMs === 0 ? account.blockedUntil : now + state.blockedMs
    },
    size: () => accounts.size
  }
}

export type RequestBudget = ReturnType<typeof makeRequestBudget>
