/** Milliseconds in which entries are counted. */
export const SAMPLE_WINDOW_MS = 60_000

/** Entries of one client, and of all clients together, in one window. */
export const SAMPLED_PER_CLIENT = 10
export const SAMPLED_IN_ALL = 60

/** Clients that are counted one by one; further ones share one count. */
export const MAX_SAMPLED_CLIENTS = 1_000

const OTHERS = "other clients"

interface Account {
  entries: number
  windowEnd: number
  /** Refusals since the last entry that left none. */
  unrecorded: number
}

/** Whether a refusal leaves an entry, and how many of the same client left none since the one before. */
export type Sampled = { readonly isRecorded: false } | { readonly isRecorded: true; readonly unrecorded: number }

/**
 * Chooses the refused requests that leave an audit entry (docs/reference/admin.md#audit-refusals), so that a flood of
 * them does not fill the table: the first of each client in a window, within a limit for all. Times are Unix
 * milliseconds.
 */
export const makeRefusalSample = () => {
  const accounts = new Map<string, Account>()
  const all: Account = { entries: 0, windowEnd: 0, unrecorded: 0 }

  const renew = (account: Account, now: number) => {
    if (now < account.windowEnd) return
    account.entries = 0
    account.windowEnd = now + SAMPLE_WINDOW_MS
  }

  const accountOf = (client: string, now: number): Account => {
    const known = accounts.get(client)
    if (known !== undefined) return known
    if (accounts.size >= MAX_SAMPLED_CLIENTS) {
      for (const [name, { windowEnd }] of accounts) if (windowEnd <= now) accounts.delete(name)
    }
    const name = accounts.size >= MAX_SAMPLED_CLIENTS ? OTHERS : client
    const account = accounts.get(name) ?? { entries: 0, windowEnd: 0, unrecorded: 0 }
    accounts.set(name, account)
    return account
  }

  return (client: string, now: number): Sampled => {
    const account = accountOf(client, now)
    renew(account, now)
    renew(all, now)
    if (account.entries >= SAMPLED_PER_CLIENT || all.entries >= SAMPLED_IN_ALL) {
      account.unrecorded += 1
      return { isRecorded: false }
    }
    account.entries += 1
    all.entries += 1
    const { unrecorded } = account
    account.unrecorded = 0
    return { isRecorded: true, unrecorded }
  }
}
