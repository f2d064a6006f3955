/** How many requests a client may make in how long. */
export interface Budget {
  readonly limit: number
  /** Milliseconds. */
  readonly windowMs: number
}

export type Spending =
  | { readonly allowed: true; readonly remaining: number; readonly resetMs: number }
  | { readonly allowed: false; readonly retryAfterMs: number }

interface Account {
  spent: number
  windowEnd: number
  blockedUntil: number
}

/** Accounts kept before expired ones are swept out, so that many clients cannot fill the memory. */
export const MAX_ACCOUNTS = 10_000

/**
 * Counts requests by client: a window opens with a client's first request, and a client that exceeds its limit is
 * refused until a whole window has passed since the excess (docs/http.md#rate-limit).
 */
export const makeRequestBudget = (budget: Budget, maxAccounts: number = MAX_ACCOUNTS) => {
  const accounts = new Map<string, Account>()

  const accountOf = (client: string, now: number): Account => {
    const known = accounts.get(client)
    if (known !== undefined && now < Math.max(known.windowEnd, known.blockedUntil)) return known
    const fresh = { spent: 0, windowEnd: now + budget.windowMs, blockedUntil: 0 }
    // Taken out first, so that the map stays in the order in which the windows opened.
    accounts.delete(client)
    if (accounts.size >= maxAccounts) makeRoom(now)
    accounts.set(client, fresh)
    return fresh
  }

  const makeRoom = (now: number) => {
    for (const [client, account] of accounts) {
      if (now >= Math.max(account.windowEnd, account.blockedUntil)) accounts.delete(client)
    }
    for (const client of accounts.keys()) {
      if (accounts.size < maxAccounts) break
      accounts.delete(client)
    }
  }

  return {
    /** Takes one request from the client's budget. Times are Unix milliseconds. */
    spend: (client: string, now: number): Spending => {
      const account = accountOf(client, now)
      if (now < account.blockedUntil) return { allowed: false, retryAfterMs: account.blockedUntil - now }
      account.spent++
      if (account.spent > budget.limit) {
        account.blockedUntil = now + budget.windowMs
        return { allowed: false, retryAfterMs: budget.windowMs }
      }
      return { allowed: true, remaining: budget.limit - account.spent, resetMs: account.windowEnd - now }
    },
    size: () => accounts.size
  }
}
