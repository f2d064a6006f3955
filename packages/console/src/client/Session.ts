import { makeStore } from "../view/live/Store.ts"
import { SERVICE_PATH } from "./Base.ts"

/**
 * Where the API key is kept: in the storage of the tab. `SharedKey.ts` gives it to other open tabs. Services below
 * several paths share an origin and not their keys.
 */
export const STORAGE_KEY = `runplane.key${SERVICE_PATH}`

export interface Session {
  readonly key: string | undefined
  /** The service has refused a call without a valid key. */
  readonly isRefused: boolean
  readonly why: string
}

const stored = (): string | undefined => {
  try {
    return sessionStorage.getItem(STORAGE_KEY) ?? undefined
  } catch {
    // Browsers may forbid the storage; the key is then forgotten with the page.
    return undefined
  }
}

export const session = makeStore<Session>({ key: stored(), isRefused: false, why: "" })

/** Uses the key from now on. */
export const signIn = (key: string): void => {
  try {
    sessionStorage.setItem(STORAGE_KEY, key)
  } catch {
    // See above: it works until the page is left.
  }
  session.set({ key, isRefused: false, why: "" })
}

/** Removes the key; the next call shows whether the service needs one. */
export const signOut = (): void => {
  try {
    sessionStorage.removeItem(STORAGE_KEY)
  } catch {
    // There is nothing to remove.
  }
  session.set({ key: undefined, isRefused: false, why: "" })
}

/** The service refused the key, or requires one. */
export const refuse = (why: string): void => {
  const { key } = session.get()
  session.set({ key, isRefused: true, why })
}
