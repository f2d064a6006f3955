/** A model as a price list may know it: the name, and the provider where the name or the caller states one. */
export interface ModelName {
  readonly model: string
  readonly provider?: string
}

/** Longer names are cut. Characters. */
export const MAX_MODEL_NAME = 256

/** Names of one model that are tried. */
const MAX_NAMES = 16
/** Prefixes that are removed from one name: a gateway, a vendor, and a folder. */
const MAX_PREFIXES = 3

/** Other names of providers, as SDKs and gateways state them, and the name of the catalogue. */
const PROVIDERS: Readonly<Record<string, string>> = {
  azure_openai: "azure",
  "azure.ai.openai": "azure",
  "azure.ai.inference": "azure",
  azure_ai: "azure",
  "az.ai.openai": "azure",
  "az.ai.inference": "azure",
  bedrock: "aws",
  aws_bedrock: "aws",
  "aws.bedrock": "aws",
  bedrock_converse: "aws",
  "amazon-bedrock": "aws",
  gemini: "google",
  google_genai: "google",
  google_vertexai: "google",
  vertex_ai: "google",
  vertexai: "google",
  "google-vertex": "google",
  "google-gla": "google",
  "gcp.vertex_ai": "google",
  "gcp.gemini": "google",
  "gcp.gen_ai": "google",
  models: "google",
  mistral_ai: "mistral",
  mistralai: "mistral",
  x_ai: "x-ai",
  xai: "x-ai",
  grok: "x-ai",
  together_ai: "together",
  togetherai: "together",
  fireworks_ai: "fireworks",
  deepseek_ai: "deepseek",
  "openai-chat": "openai",
  openai_chat: "openai",
  "openai.chat": "openai",
  "openai.responses": "openai",
  "anthropic.messages": "anthropic"
}

/** The name under which the catalogue knows a provider; lower case, without blanks around it. */
export const providerName = (provider: string): string => {
  const name = provider.trim().toLowerCase().replaceAll(/\s+/g, "-")
  return PROVIDERS[name] ?? name
}

/** A date or a version behind a model's name, which most price lists leave out. */
const SUFFIXES = [
  /[-@]\d{4}-\d{2}-\d{2}$/,
  /[-@]\d{8}$/,
  /-latest$/,
  /-\d{4}$/,
  /:(?:nitro|floor|online|beta|thinking|extended|exacto)$/
]

/** Regions that Bedrock puts before a model. */
const REGION = /^(?:us|us-gov|eu|apac|jp|au|ca|sa|me|af|global)\.(?=[a-z0-9-]+\.)/
/** A vendor of Bedrock before its model: `anthropic.claude-...-v1:0`. */
const BEDROCK =
  /^(?:anthropic|amazon|meta|mistral|cohere|ai21|deepseek|qwen|openai|writer|stability|luma|twelvelabs|moonshot|minimax|nvidia|google)\.[a-z0-9]/
const ARN = /^arn:aws[a-z-]*:bedrock:[^/]*\//

/**
 * The names under which price lists may have a model, the most exact one first (docs/reference/prices.md#names): as
 * stated; in lower case without blanks; without a region, a provider prefix, a fine-tuning id, a date or a version.
 */
export const modelNames = (model: string, provider?: string): ReadonlyArray<ModelName> => {
  const stated = model.slice(0, MAX_MODEL_NAME)
  const given =
    provider === undefined || provider.trim() === "" ? undefined : providerName(provider.slice(0, MAX_MODEL_NAME))
  const names: Array<ModelName> = []
  const add = (name: string, of: string | undefined) => {
    if (name !== "" && names.length < MAX_NAMES && !names.some((each) => each.model === name && each.provider === of)) {
      names.push({ model: name, ...(of !== undefined && { provider: of }) })
    }
  }
  add(stated, given)
  for (const plain of prefixesOf(stated.trim().toLowerCase().replaceAll(/\s+/g, "-"), given)) {
    add(plain.model, plain.provider)
  }
  for (const { model: name, provider: of } of [...names]) {
    let short = name.trim().toLowerCase()
    for (const suffix of SUFFIXES) {
      const next = short.replace(suffix, "")
      if (next !== short) add(next, of)
      short = next
    }
  }
  return names
}

/** A name with its prefixes, and without them: `openrouter/openai/gpt-4o`, `openai/gpt-4o`, `gpt-4o`. */
const prefixesOf = (name: string, provider: string | undefined, left = MAX_PREFIXES): ReadonlyArray<ModelName> => {
  const withProvider = (model: string, of: string | undefined): ModelName => ({
    model,
    ...(of !== undefined && { provider: of })
  })
  const whole = withProvider(name, provider ?? impliedProvider(name))
  if (left === 0) return [whole]
  const arn = ARN.exec(name)?.[0]
  if (arn !== undefined) return [whole, ...prefixesOf(name.slice(name.lastIndexOf("/") + 1), "aws", left - 1)]
  if (REGION.test(name)) return [whole, ...prefixesOf(name.replace(REGION, ""), provider ?? "aws", left - 1)]
  const at = name.search(/[/:]/)
  const isPrefix = at > 0 && (name[at] === "/" || (!/[\d.]/.test(name.slice(0, at)) && !name.startsWith("ft:")))
  if (!isPrefix) return [whole]
  const prefix = providerName(name.slice(0, at))
  const rest = name.slice(at + 1)
  const inner = prefixesOf(rest, prefix === "accounts" ? "fireworks" : prefix, left - 1)
  // A gateway that the caller states keeps its own price of a model that it names with the vendor.
  return [whole, ...inner, ...(provider === undefined ? [] : [withProvider(rest, provider)])]
}

const impliedProvider = (name: string): string | undefined => {
  if (name.startsWith("ft:")) return "openai"
  if (name.startsWith("accounts/fireworks/")) return "fireworks"
  return REGION.test(name) || BEDROCK.test(name) ? "aws" : undefined
}
