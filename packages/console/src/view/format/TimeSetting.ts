import { makeStore } from "../live/Store.ts"

/** How all pages show times. */
export interface TimeSetting {
  /** An IANA zone (`Asia/Tokyo`) or `UTC`; empty: that of the browser. */
  readonly zone: string
  /** Date and time instead of the age. */
  readonly isAbsolute: boolean
}

const STORAGE_KEY = "runplane.times"

const isZone = (zone: string): boolean => {
  try {
    return new Intl.DateTimeFormat("en-GB", { timeZone: zone }).format(0) !== ""
  } catch {
    return false
  }
}

/** Reads `absolute Asia/Tokyo`, `ages UTC`; a zone that the browser does not know is that of the browser. */
export const readTimeSetting = (text: string | null): TimeSetting => {
  const [form, zone = ""] = (text ?? "").split(" ")
  return { zone: zone !== "" && isZone(zone) ? zone : "", isAbsolute: form === "absolute" }
}

export const timeSettingText = ({ isAbsolute, zone }: TimeSetting): string =>
  `${isAbsolute ? "absolute" : "ages"} ${zone}`

const stored = (): TimeSetting => {
  try {
    return readTimeSetting(localStorage.getItem(STORAGE_KEY))
  } catch {
    // Without storage the setting lasts until the page is left.
    return readTimeSetting(null)
  }
}

export const timeSetting = makeStore<TimeSetting>(stored())

/** Keeps the setting in the browser, for all pages. */
export const setTimeSetting = (next: TimeSetting): void => {
  try {
    localStorage.setItem(STORAGE_KEY, timeSettingText(next))
  } catch {
    // It holds until the page is left.
  }
  timeSetting.set(next)
}
