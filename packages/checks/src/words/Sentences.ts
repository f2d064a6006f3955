// The words that the check `words` refuses in names, comments, texts and documents, because a reader who is new to the
// project stumbles over them (docs/internals/words.md). Each finding names the better form.
import { read, trackedFiles } from "../Repository.ts"

/** What is refused, and what to write instead. */
const PATTERNS: ReadonlyArray<readonly [RegExp, string]> = [
  [
    /\b(?:some|no|any|every)body\b|\bwhoever\b|\bno one\b|\bnone (?:has|is|of them)\b/i,
    "name the subject: the caller, a reader"
  ],
  [
    /(?<!\bthere )\bis no (?!longer\b|more\b|match\b|such\b|later\b)[a-z]/i,
    "is not a ..., has no ..., there is no ..."
  ],
  [/\b(?:tells?|told|telling)\b/i, "notify, report, say, return, show"],
  [/\b(?:hears?|heard|hearing)\b/i, "receive, receives, received"],
  [/\b(?:asks?|asked|asking) (?:for|of|the|whether|a|an|it|again)\b/i, "request, query, call, read"],
  [/\b(?:takes?|taken|took|taking) (?:up|over)\b/i, "adopt, claim, acquire"],
  [/\bstands? still\b|\bstood still\b/i, "pause, stop, wait"],
  [/\bto be had\b|\bbe had\b/i, "available"],
  [/\bhand(?:s|ed|ing)? (?:on|over)\b/i, "deliver, pass, forward"],
  [/\b(?:a|the|its|their|this|that|each|last|first|next|same|one) places?\b/i, "position, index, offset, slot, cursor"],
  // Of code in documents too; RetiredWords.ts reads the names of the sources.
  [
    /\b(?:const|let|function|interface|type|class|readonly|AS) (?!\w*[Rr]eplace)\w*?(?:[Pp]laces?|[Rr]ooms?|[Dd]oors?|[Pp]arked|put_off)\b/,
    "position, capacity, receiver, delayed, postponed"
  ],
  [/\bwhat (?:has|comes|came|goes|stands|is there)\b/i, "name the thing: events, rows, the remaining frames"],
  [/\b(?:look|looks|looked|looking) (?:again|whether|into|after)\b/i, "check, poll, read"]
]

/** Files whose words are not ours, or that show the refused words. */
const EXEMPT = [
  /^LICENSE$/,
  /^pnpm-lock\.yaml$/,
  /^proto\//,
  /\/(?:src|test)\/(?:runplane\/)?gen\//,
  /\/openapi\/.*\.json$/,
  /\/(?:fixtures|recordings)\//,
  /^packages\/checks\/src\/words\/Sentences\.ts$/,
  /^docs\/internals\/words\.md$/,
  /^packages\/checks\/test\/words\//
]

interface Exception {
  readonly file: string
  /** A part of the line. */
  readonly text: string
  readonly reason: string
}

/** Lines that may stay, by file and a part of the line, each with its reason. */
const EXCEPTIONS: ReadonlyArray<Exception> = [
  {
    file: "packages/domain/src/insight/Backtest.ts",
    text: "an outcome that nobody stated",
    reason: "a reason that POST /policies/backtest answers; clients compare it"
  },
  { file: "packages/launcher/test/agents/AgentUser.test.ts", text: "nobody", reason: "the user of that name" },
  {
    file: "packages/launcher/test/agents/CommandHost.integration.test.ts",
    text: "nobody",
    reason: "the user of that name"
  },
  { file: "packages/launcher/test/agents/HostCommand.test.ts", text: "nobody", reason: "the user of that name" },
  { file: "packages/postgres/src/ServerUser.ts", text: "nobody", reason: "the user of that name" }
]

/** Binary or generated content is not prose. */
const isProse = (file: string) => /\.(?:ts|tsx|mjs|js|md|sql|ya?ml|html|css|sh)$|^\.ci\//.test(file)

/** The refused words of a line, each with the better form. */
export const refusedIn = (line: string): ReadonlyArray<{ readonly match: string; readonly better: string }> =>
  PATTERNS.flatMap(([pattern, better]) => {
    const [match] = pattern.exec(line) ?? []
    return match === undefined ? [] : [{ match, better }]
  })

/** A line for each finding, and for each exception without a line or a reason. `under` limits it to a folder. */
export const refusedSentences = (under = ""): ReadonlyArray<string> => {
  const used = new Set<Exception>()
  const found = trackedFiles()
    .filter((file) => isProse(file) && !EXEMPT.some((each) => each.test(file)) && file.startsWith(under))
    .flatMap((file) =>
      read(file)
        .split("\n")
        .flatMap((line, index) => {
          const refused = refusedIn(line)
          if (refused.length === 0) return []
          const exception = EXCEPTIONS.find((each) => each.file === file && line.includes(each.text))
          if (exception === undefined) {
            return refused.map(({ better, match }) => `${file}:${index + 1} "${match}": ${better}`)
          }
          used.add(exception)
          return []
        })
    )
  if (under !== "") return found
  return [
    ...found,
    ...EXCEPTIONS.filter((each) => !used.has(each)).map(
      ({ file, text }) => `${file} has no line with "${text}" any more`
    ),
    ...EXCEPTIONS.filter(({ reason }) => reason === "").map(({ file, text }) => `${file}: "${text}" has no reason`)
  ]
}
