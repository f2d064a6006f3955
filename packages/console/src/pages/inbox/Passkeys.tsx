import type { Passkey } from "@runplane/api"
import { type UseMutationResult, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useId, useState } from "react"
import { callInbox, signInAddress } from "../../client/Inbox.ts"
import { hasPasskeys, makePasskey, NotSigned } from "../../client/Passkeys.ts"
import { problemOf } from "../../client/Problem.ts"
import { Time, UserText } from "../../ui/basics.tsx"
import { sentence } from "../../view/inbox/AnswerResult.ts"

const KEY = ["passkeys"]

const headersOf = (nonce: string | undefined) => (nonce === undefined ? {} : { "x-page-nonce": nonce })

/** The passkeys of the person, by which it signs answers; nothing for a person who cannot have one. */
export const Passkeys = () => {
  const read = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => callInbox((api) => api.passkeys.list(), signal),
    retry: false
  })
  const { data } = read
  if (data === undefined || (data.enrolment === "impossible" && data.data.length === 0)) return null
  return (
    <details className="panel mx-4 mb-4 px-3">
      <summary className="cursor-pointer py-2.5 font-medium">Your passkeys: {data.data.length}</summary>
      <div className="pb-3">
        <p className="text-soft">
          A passkey signs your answers, where a question requires it. It counts for questions that open after you have
          enrolled it.
        </p>
        <ul aria-label="Your passkeys" className="mt-2 flex flex-col gap-1.5">
          {data.data.map((one) => (
            <Entry key={one.id} passkey={one} nonce={data.nonce} />
          ))}
        </ul>
        {data.enrolment === "sign-in" ? (
          <a className="btn mt-3 h-10" href={signInAddress(undefined, true)}>
            Sign in again to enrol one
          </a>
        ) : data.enrolment === "impossible" ? (
          <p className="mt-2 text-soft">No other can be enrolled here: {data.why}.</p>
        ) : hasPasskeys() ? (
          <Enrol nonce={data.nonce} />
        ) : (
          <p className="mt-2 text-soft">This browser makes no passkeys.</p>
        )}
      </div>
    </details>
  )
}

const useChange = <A, V>(change: (value: V) => Promise<A>): UseMutationResult<A, Error, V> => {
  const queries = useQueryClient()
  return useMutation({ mutationFn: change, onSettled: () => queries.invalidateQueries({ queryKey: KEY }) })
}

const Refusal = ({ error }: { readonly error: Error | null }) => {
  if (error === null) return null
  const lines = error instanceof NotSigned ? [error.message] : problemOf(error, "").messages
  return (
    <div role="alert" className="mt-2 text-bad">
      {lines.map((line) => (
        <p key={line}>{sentence(line)}</p>
      ))}
    </div>
  )
}

const Entry = ({
  nonce,
  passkey: { enrolledAt, id, name, rpId, usedAt }
}: {
  readonly passkey: Passkey
  readonly nonce: string | undefined
}) => {
  const remove = useChange(() => callInbox((api) => api.passkeys.remove({ params: { id }, headers: headersOf(nonce) })))
  return (
    <li className="flex items-baseline gap-3">
      <span className="min-w-0 flex-1">
        <UserText text={name} className="font-medium" />{" "}
        <span className="text-muted">
          <UserText text={rpId} />, enrolled <Time at={enrolledAt} />
          {usedAt === undefined ? ", not used yet" : null}
        </span>
        <Refusal error={remove.error} />
      </span>
      <button
        type="button"
        className="btn btn-quiet px-2"
        disabled={remove.isPending}
        aria-label={`Delete ${name}`}
        onClick={() => remove.mutate(undefined)}
      >
        Delete
      </button>
    </li>
  )
}

const MAX_NAME = 60

const Enrol = ({ nonce }: { readonly nonce: string | undefined }) => {
  const [name, setName] = useState("")
  const field = useId()
  const enrol = useChange(async (given: string) => {
    const headers = headersOf(nonce)
    const challenge = await callInbox((api) => api.passkeys.begin({ headers }))
    const payload = await makePasskey(given, challenge)
    const made = await callInbox((api) => api.passkeys.enrol({ headers, payload }))
    setName("")
    return made
  })
  return (
    <form
      className="mt-3 flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (name.trim() !== "") enrol.mutate(name.trim())
      }}
    >
      <label htmlFor={field} className="label w-full">
        Name of a new one, such as the device
      </label>
      <input
        id={field}
        className="field h-10 min-w-0 flex-1 text-[16px]"
        maxLength={MAX_NAME}
        value={name}
        onChange={({ target: { value } }) => setName(value)}
      />
      <button type="submit" className="btn h-10 px-4" disabled={enrol.isPending}>
        {enrol.isPending ? "Waiting for your device…" : "Enrol a passkey"}
      </button>
      <div className="w-full">
        <Refusal error={enrol.error} />
        {enrol.isSuccess ? (
          <p role="status" className="mt-1 text-good">
            {enrol.data.name} is enrolled. It counts for questions that open from now on.
          </p>
        ) : null}
      </div>
    </form>
  )
}
