// The packages of others that a package of ours brings, with their licences.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const json = (path) => JSON.parse(readFileSync(path, "utf8"))

/** The package in a folder as `{ name, version, license, text }`; `text` is that of its licence, where it has one. */
export const componentIn = (folder) => {
  const { license, name, version } = json(join(folder, "package.json"))
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(\.|$)/i.test(entry))
  return {
    name,
    version,
    license,
    ...(file !== undefined && { text: readFileSync(join(folder, file), "utf8").trim() })
  }
}

/** Each once, in the order of their names. */
export const distinct = (components) =>
  [...new Map(components.map((one) => [`${one.name} ${one.version}`, one])).values()].sort((one, other) =>
    `${one.name} ${one.version}` < `${other.name} ${other.version}` ? -1 : 1
  )

/** The licences of components, as a text that goes with their copies. */
export const licenceTexts = (components) => {
  const texts = components.map(
    ({ license, name, text = `(${license}; the package has no text of it)`, version }) =>
      `${name} ${version} (${license})\n\n${text}\n`
  )
  return `What the programs and the console hold of others, and under which licence.\n\n${texts.join(`\n${"-".repeat(80)}\n\n`)}`
}
