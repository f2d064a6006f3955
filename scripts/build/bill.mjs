// The bill of materials of a package, in CycloneDX: what it brings of others, and what it installs.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Enums, Models, Serialize, Spec, Validation } from "@cyclonedx/cyclonedx-library"

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

const purlOf = (name, version) => `pkg:npm/${name.replace("@", "%40")}@${version}`

const componentOf = (type, { license, name, version }) => {
  const component = new Models.Component(type, name, { version, bomRef: purlOf(name, version) })
  component.purl = purlOf(name, version)
  if (license !== undefined) component.licenses.add(new Models.LicenseExpression(license))
  return component
}

/**
 * The bill of a package as a JSON text: the same for the same content. Throws where it is not valid by the schema of
 * CycloneDX.
 */
export const billOf = async (main, components) => {
  const bom = new Models.Bom()
  bom.metadata.component = componentOf(Enums.ComponentType.Application, main)
  for (const each of distinct(components)) {
    const component = componentOf(Enums.ComponentType.Library, each)
    bom.components.add(component)
    bom.metadata.component.dependencies.add(component.bomRef)
  }
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6)
  const text = new Serialize.JsonSerializer(factory).serialize(bom, { sortLists: true, space: 2 })
  const faults = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)
  if (faults !== null) throw new Error(`the bill of ${main.name} is not valid: ${JSON.stringify(faults)}`)
  return `${text}\n`
}
