import { isOwnCode, read, trackedFiles } from "../Repository.ts"
import { type Name, namesOf, namesOfSql } from "./Identifiers.ts"
import { RETIRED_EXCEPTIONS, type RetiredException } from "./RetiredExceptions.ts"

/** A word that names of the code and of SQL do not use any more, because it had several meanings. */
interface Retired {
  readonly word: string
  readonly pattern: RegExp
  readonly better: string
}

/** A word as a part of a name: `story`, `runStory`, `run_stories`, but not `history`. */
const part = (word: string) => {
  const capital = `${word.charAt(0).toUpperCase()}${word.slice(1)}`
  return new RegExp(`(?:^|_)${word}(?![a-z])|${capital}(?![a-z])`)
}

/**
 * Names of the flag `archived`: of runs, as the contract has it. All other names with the word mean rows that only
 * files have.
 */
const FLAG = "(?:archived|archived_?[aA]t|(?:is|not|only|has|set|remove|include|Batch)Archived)"

export const RETIRED: ReadonlyArray<Retired> = [
  {
    word: "archived",
    pattern: new RegExp(`^(?!${FLAG}$)\\w*(?:(?:^|_)archived|Archived)(?![a-z])`),
    better: "cold, for rows that only files have"
  },
  { word: "story", pattern: part("stor(?:y|ies)"), better: "narrative, trace fold" },
  { word: "insights", pattern: part("insights"), better: "export, compare; insight for forecast and why" },
  {
    word: "inbox",
    pattern: /^(?!\w*(?:[Ss]panInbox|otlp_?[iI]nbox))\w*(?:(?:^|_)inbox|Inbox)(?![a-z])/,
    better: "mailbox, span inbox; inbox is for people"
  },
  // `runDrain` is a function of Effect.
  { word: "drain", pattern: /^(?!runDrain$)\w*(?:(?:^|_)drain|Drain)(?![a-z])/, better: "span processor, take" },
  { word: "reception", pattern: part("reception"), better: "receiver" },
  { word: "contribution", pattern: part("contributions?"), better: "counter change, statement" },
  { word: "pricing", pattern: part("pricing"), better: "prices" },
  { word: "place", pattern: part("places?"), better: "position, index, offset, cursor" },
  { word: "seat", pattern: part("seats?"), better: "process number; seat is for people" },
  { word: "room", pattern: part("rooms?"), better: "slots, capacity" },
  { word: "door", pattern: part("doors?"), better: "receiver" },
  { word: "parked", pattern: /(?:^|_)parked|Parked/, better: "delayed" },
  { word: "put_off", pattern: /put_off|[pP]utOff/, better: "postponed" }
]

const ANY =
  /archived|stor(?:y|ies)|insights|inbox|drain|reception|contribution|pricing|place|seat|room|door|parked|put_?off/i

/** The retired words of a name. */
export const retiredIn = (name: string): ReadonlyArray<Retired> => RETIRED.filter(({ pattern }) => pattern.test(name))

/** The names of a file, and its own. */
const namesOfFile = (file: string): ReadonlyArray<Name> => {
  const stem = file.slice(file.lastIndexOf("/") + 1).replace(/\..*$/, "")
  const text = read(file)
  const isSql = file.endsWith(".sql")
  const names = ANY.test(text) ? (isSql ? namesOfSql(text) : namesOf(text)) : []
  return isSql ? names : [{ name: stem, line: 1 }, ...names]
}

const isExempt = (file: string) => /\/(?:fixtures|recordings)\//.test(file)

/** A file with the names in it. */
export interface NamedFile {
  readonly file: string
  readonly names: ReadonlyArray<Name>
}

/**
 * A line for each retired name of a file, and for each exception without a name or a reason. An exception covers a word
 * in a folder or a file.
 */
export const retiredNames = (
  files: ReadonlyArray<NamedFile>,
  exceptions: ReadonlyArray<RetiredException>
): ReadonlyArray<string> => {
  const used = new Set<RetiredException>()
  const found = files.flatMap(({ file, names }) => {
    const lines = names.flatMap(({ line, name }) =>
      retiredIn(name).flatMap(({ better, word }) => {
        const exception = exceptions.find((each) => each.word === word && file.startsWith(each.under))
        if (exception !== undefined) used.add(exception)
        return exception === undefined ? [{ name, text: `${file}:${line} "${name}": ${better}` }] : []
      })
    )
    // The first line of each name is enough.
    return lines.filter(({ name }, at) => lines.findIndex((each) => each.name === name) === at)
  })
  return [
    ...found.map(({ text }) => text),
    ...exceptions
      .filter((each) => !used.has(each))
      .map((each) => `no name under ${each.under} has "${each.word}" any more: remove its exception`),
    ...exceptions.filter(({ reason }) => reason === "").map((each) => `${each.under}: "${each.word}" has no reason`)
  ]
}

/** The retired names of the checkout, or of one folder, whose exceptions alone count then. */
export const retiredIdentifiers = (under = ""): ReadonlyArray<string> =>
  retiredNames(
    trackedFiles()
      .filter((file) => file.startsWith(under) && !isExempt(file))
      .filter((file) => isOwnCode(file) || /^migrations\/.*\.sql$/.test(file))
      .map((file) => ({ file, names: namesOfFile(file) })),
    RETIRED_EXCEPTIONS.filter((each) => under.startsWith(each.under) || each.under.startsWith(under))
  )
