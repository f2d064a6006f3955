import { archiveTarget } from "@runplane/archive"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { usageProblem } from "../../CliFailure.ts"

const optional = (name: string) => Config.map(Config.option(Config.String(name)), Option.getOrUndefined)

const access = Config.all({
  accessKeyId: optional("AWS_ACCESS_KEY_ID"),
  secretAccessKey: optional("AWS_SECRET_ACCESS_KEY"),
  sessionToken: optional("AWS_SESSION_TOKEN"),
  region: optional("AWS_REGION"),
  endpoint: optional("AWS_ENDPOINT_URL")
})

/** The archive of an address, with the credentials of the environment. */
export const openArchive = Effect.fnUntraced(function* (url: string) {
  const given = yield* Effect.orDie(access)
  return yield* Effect.mapError(Effect.fromResult(archiveTarget(url, given)), ({ message }) => usageProblem(message))
})
