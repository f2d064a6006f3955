// `node packages/checks/src/words/main.ts packages/domain` lists the findings of one folder. With `-` instead of the
// folder it lists those of the lines on standard input.
import { readFileSync } from "node:fs"
import { retiredIdentifiers } from "./RetiredWords.ts"
import { refusedIn, refusedSentences } from "./Sentences.ts"

const findingsOfLine = (line: string, index: number) =>
  refusedIn(line).map(({ better, match }) => `line ${index + 1} "${match}": ${better}`)

const [given = ""] = process.argv.slice(2)
const findings =
  given === "-"
    ? readFileSync(0, "utf8").split("\n").flatMap(findingsOfLine)
    : [...refusedSentences(given), ...retiredIdentifiers(given)]
console.log([...findings, `${findings.length} findings`].join("\n"))
