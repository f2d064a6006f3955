/** What a page finds out about a launch service whose answer it cannot read. */
export interface Unreached {
  /** Origin of the page. */
  readonly page: string
  /** Base URL of the launch service, as the control plane gives it. */
  readonly launcher: string
  /** Whether it answers a request whose answer the page does not read. */
  readonly answers: boolean
}

/** `isRefused`: the browser refuses the calls of this page, so waiting does not help. */
export interface Explanation {
  readonly isRefused: boolean
  readonly text: string
}

/**
 * Why a page cannot read the launch service. Browsers report a service that does not answer and one that does not allow
 * the page in the same way, so the page compares the addresses and sends a request that needs no permission.
 */
export const explainUnreached = ({ answers, launcher, page }: Unreached): Explanation => {
  const origin = URL.canParse(launcher) ? new URL(launcher).origin : launcher
  if (origin === page) return { isRefused: false, text: `the launch service does not answer at ${launcher}` }
  if (page.startsWith("https:") && origin.startsWith("http:")) {
    const text =
      `browsers refuse requests from ${page} to ${launcher}, which has no https; set LAUNCHER_PUBLIC_URL of the control ` +
      "plane to an https address of the launch service"
    return { isRefused: true, text }
  }
  if (answers) {
    const text =
      `the launch service at ${launcher} answers, but does not allow pages of ${page}; add this address to CORS_ORIGIN ` +
      "of the launch service, or serve it below the same address as the console"
    return { isRefused: true, text }
  }
  const text =
    `the launch service does not answer at ${launcher}, as seen from this browser; if browsers reach it at another ` +
    "address, set LAUNCHER_PUBLIC_URL of the control plane"
  return { isRefused: false, text }
}
