import { hash } from "node:crypto"
import { lineText, MAIL, type MailText } from "@runplane/domain"
import { isLoopback, LaunchSettings, readSettings } from "@runplane/server"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createTransport } from "nodemailer"
import { invalidConfig } from "../../common/LaunchErrors.ts"

/** A mail to one person. */
export interface Mail extends MailText {
  /** The stable id of the notice: a mail that is sent again has the same Message-ID. */
  readonly id: string
  readonly to: string
}

/** The mail server did not take a mail. The reason has no address. */
export class MailRefused extends Data.TaggedError("MailRefused")<{
  readonly reason: string
  /** Whether a later try of the same mail would be refused, too. */
  readonly isFinal: boolean
}> {}

/** Sends mails; undefined in a service without a mail server. */
export class Mailer extends Context.Service<
  Mailer,
  { readonly send: (mail: Mail) => Effect.Effect<void, MailRefused> } | undefined
>()("runplane/launcher/Mailer") {
  /** By LAUNCHER_SMTP_URL. */
  static readonly layer = Layer.effect(
    Mailer,
    Effect.gen(function* () {
      const { from, url } = yield* Effect.mapError(
        readSettings({ url: LaunchSettings.LAUNCHER_SMTP_URL, from: LaunchSettings.LAUNCHER_SMTP_FROM }),
        ({ message }) => invalidConfig(message)
      )
      if (url === undefined) return undefined
      if (from === undefined) return yield* invalidConfig("LAUNCHER_SMTP_FROM must be set when LAUNCHER_SMTP_URL is")
      return yield* makeMailer(smtpOptions(url), from)
    })
  )

  static readonly layerNone = Layer.succeed(Mailer, undefined)
}

/** One try of a mail ends within this time. Milliseconds. */
export const SEND_TIMEOUT_MS = 45_000
const CONNECT_TIMEOUT_MS = 10_000
const SOCKET_TIMEOUT_MS = 20_000
const CONNECTIONS = 4

/** Ports of the submission of mails (RFC 8314, RFC 6409). */
const SMTPS_PORT = 465
const SMTP_PORT = 587

/** How a mail server is called. Beyond the loopback a connection without encryption carries no mail. */
export const smtpOptions = (url: string) => {
  const { hostname, password, port, protocol, username } = new URL(url)
  const host = hostname.replace(/^\[(.*)\]$/, "$1")
  const secure = protocol === "smtps:"
  const isLocal = isLoopback(host)
  return {
    host,
    port: port === "" ? (secure ? SMTPS_PORT : SMTP_PORT) : Number(port),
    secure,
    requireTLS: !secure && !isLocal,
    // A relay on the same machine often has a certificate that no authority knows.
    ignoreTLS: !secure && isLocal,
    ...(username !== "" && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } })
  }
}
export type SmtpOptions = ReturnType<typeof smtpOptions>

/** A pool of connections to a mail server, which the scope closes. */
export const makeMailer = Effect.fnUntraced(function* (options: SmtpOptions, from: string) {
  const transport = yield* Effect.acquireRelease(
    Effect.sync(() =>
      createTransport({
        ...options,
        pool: true,
        maxConnections: CONNECTIONS,
        connectionTimeout: CONNECT_TIMEOUT_MS,
        greetingTimeout: CONNECT_TIMEOUT_MS,
        socketTimeout: SOCKET_TIMEOUT_MS,
        disableFileAccess: true,
        disableUrlAccess: true
      })
    ),
    (transport) => Effect.sync(() => transport.close())
  )
  const domain = from.slice(from.lastIndexOf("@") + 1)
  return {
    send: ({ id, subject, text, to }: Mail) =>
      Effect.tryPromise({
        try: () =>
          transport.sendMail({
            from,
            to,
            subject: lineText(subject, MAX_SUBJECT),
            text,
            envelope: { from, to },
            messageId: messageIdOf(id, domain),
            headers: { "Auto-Submitted": "auto-generated" }
          }),
        catch: (error) => refusalOf(error, to)
      }).pipe(
        Effect.asVoid,
        Effect.timeoutOrElse({
          duration: SEND_TIMEOUT_MS,
          orElse: () => Effect.fail(new MailRefused({ reason: "no answer of the mail server", isFinal: false }))
        })
      )
  }
})

/** Characters of a subject, within the line length of RFC 5322. */
const MAX_SUBJECT = 300
/** Characters of a reason. */
const MAX_REASON = 300

/** The Message-ID of a notice. */
export const messageIdOf = (id: string, domain: string): string =>
  `<${hash("sha256", id, "hex").slice(0, 32)}.${MAIL}@${domain}>`

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const memberOf = (error: unknown, name: string): unknown =>
  typeof error === "object" && error !== null && name in error
    ? Object.entries(error).find(([key]) => key === name)?.[1]
    : undefined

/** SMTP refuses for good with 5xx. Of a sign-in that is a fault of the settings, which an operator can repair. */
const refusalOf = (error: unknown, to: string): MailRefused => {
  const code = memberOf(error, "responseCode")
  const isOfMail = ["EENVELOPE", "EMESSAGE"].includes(String(memberOf(error, "code")))
  const text = textOf(error)
  const known = KNOWN.find(([sign]) => text.includes(sign))
  return new MailRefused({
    reason: known?.[1] ?? lineText(text.replaceAll(to, "the address"), MAX_REASON),
    isFinal: isOfMail && typeof code === "number" && code >= 500
  })
}

const KNOWN: ReadonlyArray<readonly [sign: string, words: string]> = [
  ["ECONNREFUSED", "connection refused"],
  ["ENOTFOUND", "no address of the mail server"],
  ["ECONNRESET", "connection closed by the mail server"]
]
