import { makeStore } from "../view/live/Store.ts"

export type Theme = "system" | "light" | "dark"

const STORAGE_KEY = "runplane.theme"
const THEMES: ReadonlyArray<Theme> = ["system", "light", "dark"]

const stored = (): Theme => {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(STORAGE_KEY)) ?? "system"
  } catch {
    // Without storage the theme is that of the system each time.
    return "system"
  }
}

export const theme = makeStore<Theme>(stored())

const wantsDark = window.matchMedia("(prefers-color-scheme: dark)")

const apply = () => {
  const chosen = theme.get()
  const isDark = chosen === "dark" || (chosen === "system" && wantsDark.matches)
  document.documentElement.dataset["theme"] = isDark ? "dark" : "light"
}

theme.subscribe(apply)
wantsDark.addEventListener("change", apply)
apply()

/** System, light, dark, and from the beginning. */
export const nextTheme = (): void => {
  const next = THEMES[(THEMES.indexOf(theme.get()) + 1) % THEMES.length] ?? "system"
  try {
    localStorage.setItem(STORAGE_KEY, next)
  } catch {
    // It holds until the page is left.
  }
  theme.set(next)
}
