// What a page of docs/ shows as indented blocks: settings and commands that a test uses as they are printed.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./support.mjs"

/** The blocks under a heading of a page, each as its lines. */
export const blocksUnder = (page, heading) => {
  const text = readFileSync(join(root, page), "utf8")
  const at = text.search(new RegExp(`^#+ ${heading}$`, "im"))
  if (at < 0) throw new Error(`${page} has no heading "${heading}"`)
  const section = text.slice(text.indexOf("\n", at) + 1).split(/^#+ /m)[0]
  return section.split(/\n{2,}(?=\S)|\n(?=\S)|\n{2,}(?= {4})/).flatMap((part) => {
    const lines = part.split("\n").filter((line) => line.startsWith("    "))
    return lines.length === 0 ? [] : [lines.map((line) => line.slice(4))]
  })
}

const SETTING = /^([A-Z][A-Z0-9_]*)=(.*)$/

/** The blocks under a heading that consist of settings, each as an object. */
export const settingsUnder = (page, heading) =>
  blocksUnder(page, heading)
    .filter((lines) => lines.every((line) => SETTING.test(line)))
    .map((lines) => Object.fromEntries(lines.map((line) => SETTING.exec(line).slice(1))))

/** The one line under a heading that starts a program, as its words. */
export const commandUnder = (page, heading) => {
  const lines = blocksUnder(page, heading).flat()
  const found = lines.filter((line) => /^node_modules\/\.bin\/node /.test(line))
  if (found.length !== 1) throw new Error(`${page} shows ${found.length} commands under "${heading}", not one`)
  return found[0].split(" ")
}

/**
 * Settings of a page, with the values of this machine in place of those that only stand for one. Each of those must be
 * a setting that the page has, and each value of the page that stands for one (a host, dots, a path) must be replaced.
 */
export const onThisMachine = (settings, values) => {
  for (const name of Object.keys(values)) {
    if (!(name in settings)) throw new Error(`the page does not set ${name}`)
  }
  for (const [name, value] of Object.entries(settings)) {
    if (/\.\.\.|:\d+$|^\/srv|^launcher$|key-of/.test(value) && !(name in values)) {
      throw new Error(`${name}=${value} of the page stands for a value of this machine`)
    }
  }
  return { ...settings, ...values }
}
