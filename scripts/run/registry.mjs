// The npm registry as both package managers see it: npm fetches pnpm, and pnpm fetches everything else.

/**
 * Settings of npm that decide how a registry is reached. Both package managers read npm's configuration files, but from
 * the environment pnpm reads these settings under names of its own only.
 */
const SHARED = ["registry", "proxy", "https_proxy", "noproxy", "cafile", "strict_ssl", "fetch_timeout"]

/**
 * Both package managers wait a minute and more between attempts by default, which delays the error of a machine that
 * is offline. Milliseconds.
 */
const RETRIES = { fetch_retries: "2", fetch_retry_mintimeout: "1000", fetch_retry_maxtimeout: "5000" }

/** The value of an npm setting in the environment, where names have any case. */
const npmSetting = (env, name) => {
  const found = Object.keys(env).find((key) => key.toLowerCase() === `npm_config_${name}`)
  return found === undefined || env[found] === "" ? undefined : env[found]
}

/** The environment for npm and pnpm: with npm's settings of the registry for both, and short pauses between retries. */
export const packageManagerSettings = (env) => {
  const settings = { ...env }
  const add = (name, value) => {
    settings[name] ??= value
  }
  for (const name of SHARED) {
    const value = npmSetting(env, name)
    if (value !== undefined) add(`pnpm_config_${name}`, value)
  }
  for (const [name, value] of Object.entries(RETRIES)) {
    const chosen = npmSetting(env, name) ?? value
    if (npmSetting(env, name) === undefined) settings[`npm_config_${name}`] = chosen
    add(`pnpm_config_${name}`, chosen)
  }
  return settings
}

/** Credentials in an address are not shown. */
const withoutCredentials = (address) => address.replace(/\/\/[^/@]*@/, "//")

/** The registry for messages. Its address is known where the environment names it; configuration files are npm's. */
export const registryOf = (env) => {
  const address = npmSetting(env, "registry") ?? env.pnpm_config_registry
  return address === undefined ? "the npm registry" : `the npm registry ${withoutCredentials(address)}`
}

/** How npm and pnpm word a registry that cannot be reached, and what it means. The first that matches decides. */
const CAUSES = [
  [/ENOTFOUND|EAI_AGAIN|dns error|failed to lookup/i, "its host name cannot be resolved"],
  [/ECONNREFUSED|connection refused/i, "the connection was refused"],
  [/CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|certificate/i, "its certificate is not trusted"],
  [/ETIMEDOUT|ESOCKETTIMEDOUT|ERR_SOCKET_TIMEOUT|timed out|timeout/i, "it did not answer in time"],
  [/ECONNRESET|connection reset|socket hang up/i, "the connection was reset"],
  [/ENETUNREACH|EHOSTUNREACH|unreachable/i, "the network cannot be reached"],
  [/\bE?407\b/, "the proxy requires credentials"],
  [/\bE40[13]\b|status 40[13]|\(40[13]\b/i, "it refuses these credentials"]
]

/** One line that names the cause of a failed fetch and its remedy; undefined where the output shows another failure. */
export const causeOf = (output, registry) => {
  const cause = CAUSES.find(([pattern]) => pattern.test(output))?.[1]
  if (cause === undefined) return undefined
  const [requested] = /https?:\/\/[^\s/]+/.exec(output) ?? []
  const named =
    requested === undefined || registry.includes("://") ? registry : `${registry} (${withoutCredentials(requested)})`
  return (
    `${named} cannot be used: ${cause}. The first start fetches pnpm, Node and the dependencies ` +
    "once; check the network or HTTPS_PROXY, or name another registry in npm_config_registry"
  )
}
