import { makeStore } from "../live/Store.ts"

const STORAGE_KEY = "runplane.view of runs"

const stored = (): string => {
  try {
    return localStorage.getItem(STORAGE_KEY) ?? ""
  } catch {
    return ""
  }
}

/** The id of the view that the list of runs opens with in this browser; empty: all runs. */
export const defaultView = makeStore(stored())

export const setDefaultView = (id: string): void => {
  try {
    localStorage.setItem(STORAGE_KEY, id)
  } catch {
    // It holds until the page is left.
  }
  defaultView.set(id)
}
