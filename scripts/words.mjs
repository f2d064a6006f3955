// The words that the check `words` refuses in names, comments, texts and documents, because a reader who is new to the
// project stumbles over them (docs/internals/words.md). Each finding names the better form.
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** What is refused, and what to write instead. */
const PATTERNS = [
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
  /\/(?:src|test)\/gen\//,
  /\/openapi\/.*\.json$/,
  /\/(?:fixtures|recordings)\//,
  /^scripts\/words\.mjs$/,
  /^docs\/internals\/words\.md$/,
  /^packages\/stack\/test\/documents\/Words\.test\.ts$/
]

/** Lines that may stay, by file and a part of the line, each with its reason. */
const EXCEPTIONS = [
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
const isProse = (file) => /\.(?:ts|tsx|mjs|js|md|sql|ya?ml|html|css|sh)$|^\.ci\//.test(file)

const tracked = () => {
  const { status, stderr, stdout } = spawnSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8"
  })
  if (status !== 0) throw new Error(`git ls-files failed: ${stderr}`)
  return stdout.split("\n").filter((file) => isProse(file) && !EXEMPT.some((each) => each.test(file)))
}

/** The refused words of a line, each with the better form. */
const refusedIn = (line) =>
  PATTERNS.flatMap(([pattern, better]) => {
    const [match] = pattern.exec(line) ?? []
    return match === undefined ? [] : [{ match, better }]
  })

const findingsOfLine = (line, index) =>
  refusedIn(line).map(({ better, match }) => `line ${index + 1} "${match}": ${better}`)

/** A line for each finding, and for each exception without a line or a reason. `under` limits it to a folder. */
export const refusedWords = (under = "") => {
  const used = new Set()
  const found = tracked()
    .filter((file) => file.startsWith(under) && existsSync(join(root, file)))
    .flatMap((file) =>
      readFileSync(join(root, file), "utf8")
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
    ...EXCEPTIONS.filter(({ reason }) => !reason).map(({ file, text }) => `${file}: "${text}" has no reason`)
  ]
}

// `node scripts/words.mjs packages/domain` lists the findings of one folder, `node scripts/words.mjs -` those of the
// lines on standard input.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [given = ""] = process.argv.slice(2)
  const findings = given === "-" ? readFileSync(0, "utf8").split("\n").flatMap(findingsOfLine) : refusedWords(given)
  console.log(findings.join("\n"))
  console.log(`${findings.length} findings`)
}
