import { STORAGE_KEY } from "../../client/Session.ts"

/** Reasons that are not sent, by item: they survive a reload of the tab. */
const keyOf = (id: string) => `${STORAGE_KEY}.draft.${id}`

export const readDraft = (id: string): string => {
  try {
    return sessionStorage.getItem(keyOf(id)) ?? ""
  } catch {
    // Browsers may forbid the storage; a draft is then lost with the page.
    return ""
  }
}

export const writeDraft = (id: string, reason: string): void => {
  try {
    if (reason === "") sessionStorage.removeItem(keyOf(id))
    else sessionStorage.setItem(keyOf(id), reason)
  } catch {
    // See above.
  }
}
