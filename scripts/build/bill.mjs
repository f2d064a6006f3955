// The bill of materials of a package, in CycloneDX: what it brings of others, and what it installs.
import { Enums, Models, Serialize, Spec, Validation } from "@cyclonedx/cyclonedx-library"
import { distinct } from "./components.mjs"

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
