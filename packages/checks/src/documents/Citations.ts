// Citations and links in documents and comments.
import { dirname, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { exists, ROOT, trackedFiles } from "../Repository.ts"
import { isCode, isMarkdown, linesOf, proseOf } from "./Prose.ts"

/** Documents that are not part of the project, and the ways they were cited; a name in quotes alone is a value. */
const FOREIGN = [
  /\b(?:http|launch)-details\b/i,
  /\bruntime-wire\b/,
  /(?<!["'`])\b(?:run-control-plane|scenario-launch-service)\b|\b(?:run-control-plane|scenario-launch-service)\b(?!["'`])/,
  /\b(?:design|insight|operate|pack-example)\.md\b/,
  /\bdesign rules? \d/,
  /(?<!RFC[ -]?\d+,? )\bsections? \d/i
]

/** The anchor of a heading, as code hosts make it. */
const slugOf = (heading: string) =>
  heading
    .replace(/`|\[|\]\([^)]*\)/g, "")
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-")

const anchors = new Map<string, ReadonlySet<string>>()
const anchorsOf = (file: string): ReadonlySet<string> => {
  const known = anchors.get(file)
  if (known !== undefined) return known
  const found = new Set<string>()
  for (const { line } of proseOf(file)) {
    const [, heading] = /^#{1,6}\s+(.*?)\s*#*$/.exec(line) ?? []
    if (heading !== undefined) {
      const slug = slugOf(heading)
      let free = slug
      for (let at = 1; found.has(free); at++) free = `${slug}-${at}`
      found.add(free)
    }
    for (const [, id = ""] of line.matchAll(/<a (?:id|name)="([^"]+)"/g)) found.add(id)
  }
  anchors.set(file, found)
  return found
}

/**
 * Why a target leads nowhere, undefined when it leads somewhere. `file` is relative to the root, empty for a page's
 * own.
 */
const deadEnd = (file: string, anchor: string | undefined) => {
  if (!exists(file)) return `${file} does not exist`
  if (anchor === undefined || !isMarkdown(file)) return undefined
  return anchorsOf(file).has(anchor) ? undefined : `${file} has no anchor ${anchor}`
}

/** A page of the project, with or without an anchor: `docs/reference/runs.md#cancel`. */
const OWN_PAGE = /(?<![\w/.-])(docs\/(?:[\w-]+\/)?[\w-]+\.md)(?:#([\w-]+))?/g

/** Why each cited page of a line leads nowhere; undefined for one that exists. */
export const ownCitations = (line: string): ReadonlyArray<string | undefined> =>
  [...line.matchAll(OWN_PAGE)].map(([, file = "", anchor]) => deadEnd(file, anchor))

/** Links of a Markdown line that stay inside the project. */
const linksOf = (file: string, line: string) =>
  [...line.replace(/`[^`]*`/g, "").matchAll(/\]\(([^)\s]+)[^)]*\)/g)].flatMap(([, target = ""]) => {
    if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return []
    const [path = "", anchor] = target.split("#")
    const named = path === "" ? file : relative(ROOT, resolve(ROOT, dirname(file), path))
    return [deadEnd(named, anchor)]
  })

/** Every dead citation and dead link, one text each. */
export const deadCitations = (): ReadonlyArray<string> => {
  const dead: Array<string> = []
  for (const file of trackedFiles()) {
    if (!isMarkdown(file) && !isCode(file)) continue
    const isOwn = file === relative(ROOT, fileURLToPath(import.meta.url))
    linesOf(file).forEach((line, at) => {
      const report = (text: string) => dead.push(`${file}:${at + 1} ${text}`)
      if (!isOwn && FOREIGN.some((pattern) => pattern.test(line))) {
        report(`cites a document that is not part of the project: ${line.trim()}`)
      }
      for (const why of isOwn ? [] : ownCitations(line)) if (why !== undefined) report(why)
    })
    if (!isMarkdown(file)) continue
    for (const { line, number } of proseOf(file)) {
      for (const why of linksOf(file, line)) if (why !== undefined) dead.push(`${file}:${number} ${why}`)
    }
  }
  return dead
}
