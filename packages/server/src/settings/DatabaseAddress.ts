import * as Result from "effect/Result"

const TLS_VERSIONS = ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"] as const
export type TlsVersion = (typeof TLS_VERSIONS)[number]

/**
 * How the connection is protected: not at all, encrypted, encrypted to a server whose certificate a trusted authority
 * has signed, or encrypted to a server whose certificate also names the host.
 */
const SSL_MODES = ["disable", "require", "verify-ca", "verify-full"] as const
export type SslMode = (typeof SSL_MODES)[number]

export interface DatabaseHost {
  /** A name, an address, or the folder of a Unix socket, which starts with `/`. */
  readonly host: string
  readonly port: number
}

/** What a `DATABASE_URL` says (docs/reference/deploy.md#the-database). */
export interface DatabaseAddress {
  /** At least one, in the order in which they are tried. */
  readonly hosts: ReadonlyArray<DatabaseHost>
  readonly user?: string
  readonly password?: string
  readonly database?: string
  readonly applicationName?: string
  /** Command line options of the session, as in `-c geqo=off`. */
  readonly options?: string
  /** Longest time for one connection. Milliseconds; absent or `connect_timeout=0` sets no limit. */
  readonly connectTimeoutMs?: number
  /** Only a server that takes writes is used. */
  readonly readWrite: boolean
  readonly sslMode: SslMode
  /** Files in PEM form. `ca` is absent for the authorities that Node.js knows. */
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly keyPassword?: string
  readonly minTlsVersion?: TlsVersion
  readonly maxTlsVersion?: TlsVersion
}

const DEFAULT_PORT = 5_432
const SCHEME = /^postgres(?:ql)?:\/\//
const HOST = /^(?:\[([^[\]]+)\]|([^[\]:]*))(?::(\d*))?$/
/** The authorities that Node.js knows, as libpq spells it. */
const SYSTEM_CA = "system"

/** Parameters with the values that are supported. */
const WITH_VALUES: Readonly<Record<string, ReadonlyArray<string>>> = {
  ssl: ["true", "false", "1", "0"],
  ssl_max_protocol_version: TLS_VERSIONS,
  ssl_min_protocol_version: TLS_VERSIONS,
  sslmode: SSL_MODES,
  target_session_attrs: ["any", "read-write", "primary"],
  // These values say what the driver does anyway.
  channel_binding: ["disable", "prefer"],
  client_encoding: ["UTF8", "UTF-8", "utf8", "utf-8"],
  gssencmode: ["disable", "prefer"],
  keepalives: ["1"],
  load_balance_hosts: ["disable"],
  sslcompression: ["0"],
  sslnegotiation: ["postgres"],
  sslsni: ["1"]
}

const WITH_TEXT: ReadonlySet<string> = new Set([
  "application_name",
  "connect_timeout",
  "dbname",
  "host",
  "options",
  "password",
  "port",
  "sslcert",
  "sslkey",
  "sslpassword",
  "sslrootcert",
  "user"
])

const fault = (problem: string) => Result.fail(problem)

const MUST_BE_ENCODED =
  'has "@" or "#" behind its host: percent-encode these, "/" and "?" in the user and the password ' +
  "(%40, %23, %2F, %3F)"

/**
 * Reads a PostgreSQL address as libpq does: each parameter is honoured or refused by its name. `caFile` is the
 * authority that the service is given beside the address, in the setting `caSetting`. The problem names no value, which
 * may be a secret.
 */
export const readDatabaseAddress = (
  text: string,
  caFile?: string,
  caSetting = "DATABASE_TLS_CA_FILE"
): Result.Result<DatabaseAddress, string> =>
  Result.gen(function* () {
    if (!SCHEME.test(text)) return yield* fault("must be an address starting with postgres:// or postgresql://")
    const [, authority = "", behind = ""] = /^([^/?#]*)(.*)$/s.exec(text.replace(SCHEME, "")) ?? []
    if (/[@#]/.test(behind)) return yield* fault(MUST_BE_ENCODED)
    const [path = "", query = ""] = behind.split(/\?(.*)/s)
    const at = authority.lastIndexOf("@")
    const parameters = yield* readParameters(query)
    const [user, password] = splitAt(at < 0 ? "" : authority.slice(0, at), ":")
    const encoded = { user, password, database: path.slice(1) }
    const decoded = {
      user: parameters.get("user") ?? (yield* decode(encoded.user)),
      password: parameters.get("password") ?? (yield* decode(encoded.password)),
      database: parameters.get("dbname") ?? (yield* decode(encoded.database))
    }
    const hosts = yield* readHosts(authority.slice(at + 1), parameters)
    const target = parameters.get("target_session_attrs")
    return {
      hosts,
      ...present(decoded),
      ...present({ applicationName: parameters.get("application_name"), options: parameters.get("options") }),
      ...(yield* readConnectTimeout(parameters.get("connect_timeout"))),
      readWrite: target === undefined ? hosts.length > 1 : target !== "any",
      ...(yield* readTls(parameters, caFile, caSetting))
    }
  })

const readParameters = (query: string) =>
  Result.gen(function* () {
    const parameters = new Map<string, string>()
    for (const pair of query.split("&").filter((each) => each !== "")) {
      const [encodedName, encodedValue] = splitAt(pair, "=")
      const name = yield* decode(encodedName)
      if (!/^\w+$/.test(name)) return yield* fault("has a parameter without a name")
      const values = WITH_VALUES[name]
      if (values === undefined && !WITH_TEXT.has(name)) {
        return yield* fault(`has the parameter ${name}, which is not supported`)
      }
      const value = yield* decode(encodedValue)
      if (values?.includes(value) === false) {
        return yield* fault(`has a value of ${name} that is not supported: it must be ${values.join(", ")}`)
      }
      parameters.set(name, value)
    }
    return parameters
  })

const readHosts = (authority: string, parameters: ReadonlyMap<string, string>) =>
  Result.gen(function* () {
    const hosts: Array<DatabaseHost> = []
    for (const entry of authority.split(",")) {
      const [matched, address, name = "", port = ""] = HOST.exec(entry) ?? []
      if (matched === undefined) return yield* fault("must name its hosts as host:port, separated by commas")
      hosts.push({ host: address ?? (yield* decode(name)), port: yield* readPort(port) })
    }
    const names = parameters.get("host")?.split(",")
    const ports = parameters.get("port")?.split(",")
    const named = names === undefined ? hosts : names.map((host) => ({ host, port: DEFAULT_PORT }))
    if (ports !== undefined && ports.length !== 1 && ports.length !== named.length) {
      return yield* fault("has another number of ports than of hosts")
    }
    const read: Array<DatabaseHost> = []
    for (const [index, { host, port }] of named.entries()) {
      const given = ports?.[index] ?? ports?.[0]
      read.push({ host: host === "" ? "localhost" : host, port: given === undefined ? port : yield* readPort(given) })
    }
    return read
  })

const readPort = (text: string): Result.Result<number, string> => {
  const port = text === "" ? DEFAULT_PORT : Number(text)
  return Number.isInteger(port) && port >= 1 && port <= 65_535
    ? Result.succeed(port)
    : fault("has a port that is not a number from 1 to 65535")
}

const readConnectTimeout = (text: string | undefined): Result.Result<{ connectTimeoutMs?: number }, string> => {
  if (text === undefined || text === "0") return Result.succeed({})
  return /^\d{1,6}$/.test(text)
    ? Result.succeed({ connectTimeoutMs: Number(text) * 1_000 })
    : fault("has a connect_timeout that is not a number of seconds")
}

const readTls = (parameters: ReadonlyMap<string, string>, caFile: string | undefined, caSetting: string) =>
  Result.gen(function* () {
    const given = parameters.get("sslrootcert") ?? caFile
    const sslMode = sslModeOf(parameters, given !== undefined)
    const [cert, key] = [parameters.get("sslcert"), parameters.get("sslkey")]
    if ((cert === undefined) !== (key === undefined)) return yield* fault("must have sslcert and sslkey, or neither")
    if (sslMode === "disable") {
      for (const name of ["sslrootcert", "sslcert", "sslkey"]) {
        if (parameters.has(name)) return yield* fault(`has ${name}, but no TLS: set sslmode=verify-full`)
      }
      if (caFile !== undefined) return yield* fault(`disables TLS, but ${caSetting} is set`)
    }
    return {
      sslMode,
      ...present({
        ca: given === SYSTEM_CA ? undefined : given,
        cert,
        key,
        keyPassword: parameters.get("sslpassword"),
        minTlsVersion: tlsVersion(parameters.get("ssl_min_protocol_version")),
        maxTlsVersion: tlsVersion(parameters.get("ssl_max_protocol_version"))
      })
    }
  })

/** Plain text is the default. A configured authority implies the strictest mode. */
const sslModeOf = (parameters: ReadonlyMap<string, string>, hasAuthority: boolean): SslMode => {
  const ssl = parameters.get("ssl")
  const mode = SSL_MODES.find((known) => known === parameters.get("sslmode"))
  // What libpq calls `require` checks the server once it is given an authority.
  if (mode === "require" && hasAuthority) return "verify-ca"
  if (mode !== undefined) return mode
  if (ssl !== undefined) return ssl === "true" || ssl === "1" ? "verify-full" : "disable"
  return hasAuthority ? "verify-full" : "disable"
}

const tlsVersion = (text: string | undefined) => TLS_VERSIONS.find((known) => known === text)

const splitAt = (text: string, separator: string): readonly [string, string] => {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + separator.length)]
}

const decode = (text: string): Result.Result<string, string> =>
  Result.mapError(
    Result.try(() => decodeURIComponent(text)),
    () => 'has a "%" that encodes nothing: percent-encode it (%25)'
  )

/** Without the members that are empty. */
const present = <Members extends Readonly<Record<string, string | undefined>>>(
  members: Members
): { readonly [Name in keyof Members]?: Exclude<Members[Name], undefined> } =>
  // `fromEntries` does not carry the type of each name.
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== "")) as never

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/

/** Whether a host is this machine's own, by its text: an IPv6 address has no brackets. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host)

/** What passwords and data are exposed to on their way to the database; undefined for a protected way. */
export const exposureOf = ({ hosts, sslMode }: DatabaseAddress): string | undefined => {
  if (sslMode.startsWith("verify") || hosts.every(({ host }) => host.startsWith("/") || isLoopback(host))) {
    return undefined
  }
  return sslMode === "disable"
    ? "sends passwords and data to another host in plain text: set sslmode=verify-full"
    : "encrypts, but any server is trusted: set sslmode=verify-full"
}
