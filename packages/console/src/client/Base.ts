// The build puts every script into the folder `assets` of the console; Vite would take a literal for an asset.
const script = import.meta.url

/** Where the console is: a proxy may serve it below any path. The development server has no folder for scripts. */
const consoleUrl = import.meta.env.DEV
  ? new URL(import.meta.env.BASE_URL, window.location.origin)
  : new URL("../", script)

/** The path of the console, with a slash at its end: `/console/`, or `/runplane/console/` below a path. */
export const CONSOLE_PATH: string = consoleUrl.pathname

/** The path below which the service is, without a slash at its end: empty, or `/runplane`. */
export const SERVICE_PATH: string = new URL("../", consoleUrl).pathname.replace(/\/$/, "")

/** A file has no origin. The page of an exported run answers its calls itself (offline.tsx). */
const origin = consoleUrl.protocol === "file:" ? "http://offline.invalid" : consoleUrl.origin

/** The address of the service, as its clients take it. */
export const SERVICE_URL: string = `${origin}${SERVICE_PATH}`
