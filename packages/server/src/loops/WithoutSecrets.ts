/** UTF-16 code units of a shown text. */
const LONGEST = 300

const HIDDEN = "***"

/** The user and password of an address, values that are named as secrets, and credentials of a header. */
const SECRETS: ReadonlyArray<readonly [RegExp, string]> = [
  [/\/\/[^\s/@]+@/g, `//${HIDDEN}@`],
  [
    /((?:pass(?:word|wd|phrase)?|pwd|secret|token|credential|signature|api[-_ ]?key|access[-_ ]?key|private[-_ ]?key|authorization)[\w-]*["']?\s*[=:]\s*)(?:"[^"]*"|'[^']*'|(?:(?:bearer|basic)\s+)?[^\s,;&]+)/gi,
    `$1${HIDDEN}`
  ],
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${HIDDEN}`],
  // Keys of any kind: longer than every id of the services.
  [/[\w+=-]{48,}/g, HIDDEN]
]

/** The first line of a text without the secrets that it names, cut where it is long: for readers without a key. */
export const withoutSecrets = (text: string): string => {
  const [line = ""] = text.trim().split("\n", 1)
  const clean = SECRETS.reduce((shown, [secret, instead]) => shown.replace(secret, instead), line.slice(0, 4 * LONGEST))
  return clean.length > LONGEST ? `${clean.slice(0, LONGEST)}…` : clean
}
