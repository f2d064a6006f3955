/**
 * Why a page cannot read the launch service. Browsers report a service that is away and one that does not allow the
 * page in the same way, so the text names both where the service has another address than the page.
 *
 * @param page origin of the page
 * @param launcher base URL of the launch service, as the control plane gives it
 */
export const unreachedText = (page: string, launcher: string): string => {
  const origin = URL.canParse(launcher) ? new URL(launcher).origin : launcher
  if (origin === page) return `the launch service does not answer at ${launcher}`
  if (page.startsWith("https:") && origin.startsWith("http:")) {
    return (
      `browsers refuse requests from ${page} to ${launcher}, which has no https: set LAUNCHER_PUBLIC_URL of the control ` +
      "plane to an https address of the launch service"
    )
  }
  return (
    `this browser gets no answer of the launch service at ${launcher}: either the service is away, or it does not allow ` +
    `pages of ${page}. For the second, add ${page} to CORS_ORIGIN of the launch service, or serve it below the address ` +
    "of the console and set LAUNCHER_PUBLIC_URL of the control plane to that"
  )
}
