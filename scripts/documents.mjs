// What the checks look at in documents and comments: citations and links that lead nowhere, and prose that is too wide.
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))

const MAX_COLUMNS = 120

/** Documents that are not part of the project, and the ways they were cited; a name in quotes alone is a value. */
const FOREIGN = [
  /\b(?:http|launch)-details\b/i,
  /\bruntime-wire\b/,
  /(?<!["'`])\b(?:run-control-plane|scenario-launch-service)\b|\b(?:run-control-plane|scenario-launch-service)\b(?!["'`])/,
  /\b(?:design|insight|operate|pack-example)\.md\b/,
  /\bdesign rules? \d/,
  /(?<!RFC[ -]?\d+,? )\bsections? \d/i
]

const tracked = () => {
  const { status, stderr, stdout } = spawnSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8"
  })
  if (status !== 0) throw new Error(`git ls-files failed: ${stderr}`)
  return stdout.split("\n").filter((file) => file !== "" && existsSync(join(root, file)))
}

const isCode = (file) => /\.(?:ts|tsx|mjs|js|sql|proto|yaml|yml|toml)$|^\.ci\//.test(file) && !isGenerated(file)
const isMarkdown = (file) => file.endsWith(".md")
const isGenerated = (file) =>
  /\/(?:src|test)\/gen\/|^proto\/opentelemetry\/|\/openapi\/.*\.json$|^pnpm-lock\.yaml$/.test(file)

const texts = new Map()
const linesOf = (file) => {
  if (!texts.has(file)) texts.set(file, readFileSync(join(root, file), "utf8").split("\n"))
  return texts.get(file)
}

/** The lines of a Markdown file outside of fenced code, numbered from 1. */
const proseOf = (file) => {
  let fenced = false
  return linesOf(file).flatMap((line, at) => {
    if (/^\s*(?:```|~~~)/.test(line)) fenced = !fenced
    return fenced || /^(?: {4}|\t)/.test(line) ? [] : [{ line, number: at + 1 }]
  })
}

/** The anchor of a heading, as code hosts make it. */
const slugOf = (heading) =>
  heading
    .replace(/`|\[|\]\([^)]*\)/g, "")
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-")

const anchors = new Map()
const anchorsOf = (file) => {
  if (anchors.has(file)) return anchors.get(file)
  const found = new Set()
  for (const { line } of proseOf(file)) {
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(line)
    if (heading !== null) {
      const slug = slugOf(heading[1])
      let free = slug
      for (let at = 1; found.has(free); at++) free = `${slug}-${at}`
      found.add(free)
    }
    for (const [, id] of line.matchAll(/<a (?:id|name)="([^"]+)"/g)) found.add(id)
  }
  anchors.set(file, found)
  return found
}

/**
 * Why a target leads nowhere, undefined when it leads somewhere. `file` is relative to the root, empty for a page's
 * own.
 */
const deadEnd = (file, anchor) => {
  if (!existsSync(join(root, file))) return `${file} does not exist`
  if (anchor === undefined || !isMarkdown(file)) return undefined
  return anchorsOf(file).has(anchor) ? undefined : `${file} has no anchor ${anchor}`
}

/** A page of the project, with or without an anchor: `docs/reference/runs.md#cancel`. */
const OWN_PAGE = /(?<![\w/.-])(docs\/(?:[\w-]+\/)?[\w-]+\.md)(?:#([\w-]+))?/g

/** Why each cited page of a line leads nowhere; undefined for one that exists. */
const ownCitations = (line) => [...line.matchAll(OWN_PAGE)].map(([, file, anchor]) => deadEnd(file, anchor))

/** Links of a Markdown line that stay inside the project. */
const linksOf = (file, line) =>
  [...line.replace(/`[^`]*`/g, "").matchAll(/\]\(([^)\s]+)[^)]*\)/g)].flatMap(([, target]) => {
    if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return []
    const [path, anchor] = target.split("#")
    const named = path === "" ? file : relative(root, resolve(root, dirname(file), path))
    return [deadEnd(named, anchor)]
  })

/** Every dead citation and dead link, one text each. */
export const deadCitations = () => {
  const dead = []
  for (const file of tracked()) {
    if (!isMarkdown(file) && !isCode(file)) continue
    const isOwn = file === relative(root, fileURLToPath(import.meta.url))
    linesOf(file).forEach((line, at) => {
      const report = (text) => dead.push(`${file}:${at + 1} ${text}`)
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

/**
 * Prose and comments beyond 120 columns, one text each. Tables, and lines that are one long word, cannot be wrapped.
 */
export const wideLines = () => {
  const isComment = /^\s*(?:\/\/|\/?\*|--|#)/
  const canBreak = (line) => /\S\s+\S/.test(line.trim().replace(/^(?:\/\/|\/?\*+|--|#|[-*]|\d+\.)\s*/, ""))
  return tracked().flatMap((file) => {
    const lines = isMarkdown(file)
      ? proseOf(file).filter(({ line }) => !line.startsWith("|"))
      : isCode(file)
        ? linesOf(file).flatMap((line, at) => (isComment.test(line) ? [{ line, number: at + 1 }] : []))
        : []
    return lines
      .filter(({ line }) => line.length > MAX_COLUMNS && canBreak(line))
      .map(({ line, number }) => `${file}:${number} has ${line.length} columns`)
  })
}

// `node scripts/documents.mjs -` lists the dead citations of the lines on standard input.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const dead = readFileSync(0, "utf8").split("\n").flatMap(ownCitations)
  console.log(dead.filter((why) => why !== undefined).join("\n"))
}
