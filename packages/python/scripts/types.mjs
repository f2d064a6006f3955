// The types in Python of JSON Schemas: a TypedDict for each object, and an alias for each other schema with a name.
// A required key and an optional one are in classes of their own, because Python 3.10 has no NotRequired.

/** Adds the class, or the alias, of a schema with a name. */
export const classesOf = (name, schema, types) => {
  if (isStruct(schema)) return structOf(name, schema, types)
  const type = typeOf(schema, name, types)
  types.classes.push(`${name} = ${quotedType(type)}\n`)
}

/** The reserved words of Python. */
export const KEYWORDS = new Set(
  "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield".split(
    " "
  )
)
const isName = (key) => /^[A-Za-z_]\w*$/.test(key) && !KEYWORDS.has(key)

const isStruct = (schema) => schema.type === "object" && Object.keys(schema.properties ?? {}).length > 0

/** An alias runs when the module is loaded, before the classes that it names. */
const quotedType = (type) => {
  if (/^(?:Literal|Union|List|Dict|Optional)\[/.test(type)) {
    return type.startsWith("Literal[")
      ? type
      : type.replace(/\b[A-Z]\w*\b(?!\[)/g, (word) => (BUILT_IN.has(word) ? word : `"${word}"`))
  }
  return BUILT_IN.has(type) ? type : `Union["${type}"]`
}

const BUILT_IN = new Set(["str", "int", "float", "bool", "None", "Any"])

const structOf = (name, schema, types) => {
  const required = new Set(schema.required ?? [])
  const fields = Object.entries(schema.properties).map(([key, value]) => ({
    key,
    type: typeOf(value, name + camel(key), types),
    text: value.description,
    required: required.has(key)
  }))
  const [needed, others] = [true, false].map((is) => fields.filter((field) => field.required === is))
  const docs = docOf(schema)
  const parts = [
    { suffix: "Required", fields: needed, total: "" },
    { suffix: "Optional", fields: others, total: ", total=False" }
  ].filter(({ fields: some }) => some.length > 0)
  if (fields.every(({ key }) => isName(key))) {
    const [first, second] = parts
    if (second === undefined) types.classes.push(classOf(name, `TypedDict${first.total}`, first.fields, docs))
    else {
      types.classes.push(classOf(`_${name}Required`, "TypedDict", needed, ""))
      types.classes.push(classOf(name, `_${name}Required, total=False`, others, docs))
    }
    return
  }
  for (const part of parts) types.classes.push(dictionaryOf(`_${name}${part.suffix}`, part))
  const bases = parts.map(({ suffix }) => `_${name}${suffix}`).join(", ")
  types.classes.push(`\nclass ${name}(${bases}):\n${docs === "" ? "    pass\n" : docs}`)
}

/** A keyword cannot be the key of a class, but can be that of a dictionary. */
const dictionaryOf = (name, { fields, total }) => {
  const lines = fields.map(({ key, type }) => `    ${JSON.stringify(key)}: ${JSON.stringify(type)},\n`)
  return `\n${name} = TypedDict("${name}", {\n${lines.join("")}}${total})\n`
}

const classOf = (name, base, fields, docs) => {
  const lines = fields.map(
    ({ key, text, type }) => `    ${key}: ${type}${text === undefined ? "" : `\n    ${quoted(text)}`}`
  )
  return `\nclass ${name}(${base}):\n${docs}${lines.join("\n")}\n`
}

const quoted = (text) =>
  `"""${text.replace(/\s+/g, " ").replaceAll("\\", "\\\\").replaceAll('"""', "'''").replace(/"$/, "'")}"""`
const docOf = ({ description }) => (description === undefined ? "" : `    ${quoted(description)}\n\n`)
const camel = (key) => key.replace(/(?:^|[^A-Za-z\d]+)([A-Za-z\d])/g, (_, letter) => letter.toUpperCase())

/** The type of a schema. `name` is that of an object without one. */
export const typeOf = (schema, name, types) => {
  if (schema === true) return "Any"
  if (schema.$ref !== undefined) return schema.$ref.split("/").at(-1)
  if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`
  if (schema.enum !== undefined) return `Literal[${schema.enum.map(literal).join(", ")}]`
  const several = schema.anyOf ?? schema.oneOf
  if (several !== undefined && schema.type === undefined) {
    return union(several.map((one, index) => typeOf(one, `${name}${index + 1}`, types)))
  }
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type }, name, types)))
  switch (schema.type) {
    case "string":
      return "str"
    case "integer":
      return "int"
    case "number":
      return "float"
    case "boolean":
      return "bool"
    case "null":
      return "None"
    case "array":
      return `List[${typeOf(schema.items ?? true, `${name}Item`, types)}]`
    case "object":
      return objectOf(schema, name, types)
    default:
      return "Any"
  }
}

const objectOf = (schema, name, types) => {
  if (isStruct(schema)) {
    if (types.names.has(name)) throw new Error(`two types have the name ${name}`)
    types.names.add(name)
    structOf(name, schema, types)
    return name
  }
  const rest = schema.additionalProperties
  const value = typeof rest === "object" && Object.keys(rest).length > 0 ? typeOf(rest, `${name}Value`, types) : "Any"
  return `Dict[str, ${value}]`
}

const union = (members) => {
  const distinct = [...new Set(members)]
  return distinct.length === 1 ? distinct[0] : `Union[${distinct.join(", ")}]`
}

const literal = (value) =>
  value === true ? "True" : value === false ? "False" : value === null ? "None" : JSON.stringify(value)
