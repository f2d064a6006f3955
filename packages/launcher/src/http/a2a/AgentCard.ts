import { A2A_VERSION, JSON_TYPE, MARKDOWN_TYPE, TEXT_TYPE } from "@runplane/domain"
import type { Skill } from "../../tasks/Skills.ts"

/** What the card says of the service beside its skills. */
export interface CardFacts {
  readonly name: string
  readonly version: string
  /** Address of the interfaces. */
  readonly url: string
  readonly hasKeys: boolean
  /** Address of the issuer of tokens; undefined without one. */
  readonly issuer: string | undefined
}

const TAGS = ["committee", "decision"]

const skillOf = ({ id, version: { metadata } }: Skill) => ({
  id,
  name: metadata.name,
  description: metadata.summary ?? metadata.name,
  tags: [...new Set([...TAGS, ...(metadata.tags ?? [])])],
  inputModes: [JSON_TYPE],
  outputModes: [JSON_TYPE, MARKDOWN_TYPE]
})

/** The schemes of the service: one of them is enough. A service without authentication has none. */
const security = ({ hasKeys, issuer }: CardFacts) => {
  const schemes = {
    ...(hasKeys && {
      apiKey: { apiKeySecurityScheme: { location: "header", name: "x-api-key", description: "A key of this service" } }
    }),
    ...(issuer !== undefined && {
      openIdConnect: {
        openIdConnectSecurityScheme: {
          openIdConnectUrl: `${issuer.replace(/\/+$/, "")}/.well-known/openid-configuration`,
          description: "A signed token of the issuer, as a bearer token"
        }
      }
    })
  }
  const names = Object.keys(schemes)
  if (names.length === 0) return {}
  return {
    securitySchemes: schemes,
    securityRequirements: names.map((name) => ({ schemes: { [name]: { list: [] } } }))
  }
}

/** The agent card of A2A 1.0 (docs/reference/a2a.md#card). Pure. */
export const agentCardOf = (facts: CardFacts, skills: ReadonlyArray<Skill>) => ({
  name: facts.name,
  description:
    "Committees of agents and people: a skill decides one question by votes under a policy, and answers with the " +
    "decision, its reasons and its proof",
  version: facts.version,
  supportedInterfaces: ["JSONRPC", "HTTP+JSON"].map((protocolBinding) => ({
    url: facts.url,
    protocolBinding,
    protocolVersion: A2A_VERSION
  })),
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
  ...security(facts),
  defaultInputModes: [JSON_TYPE, TEXT_TYPE],
  defaultOutputModes: [JSON_TYPE, MARKDOWN_TYPE, TEXT_TYPE],
  skills: skills.map(skillOf)
})
