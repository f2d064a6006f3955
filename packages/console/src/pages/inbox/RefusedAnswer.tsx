import { Link } from "wouter"
import { signInAddress } from "../../client/Inbox.ts"
import { UserText } from "../../ui/basics.tsx"
import type { Refused } from "../../view/inbox/AnswerResult.ts"

/** Why an answer was not taken, and the way on. */
export const RefusedAnswer = ({ itemId, refused }: { readonly itemId: string; readonly refused: Refused }) => (
  <div className="mt-2 rounded-md bg-bad-soft px-3 py-2 text-bad">
    <p className="font-semibold">{refused.title}</p>
    {refused.lines.map((line) => (
      <p key={line}>
        <UserText text={line} />
      </p>
    ))}
    {refused.newItem === undefined ? null : (
      <Link href={`/${refused.newItem}`} className="inline-block py-1 font-medium underline">
        Open the new question
      </Link>
    )}
    {refused.needsSignIn === undefined ? null : (
      <a
        href={signInAddress(itemId, refused.needsSignIn === "fresh")}
        className="inline-block py-1 font-medium underline"
      >
        Sign in again
      </a>
    )}
  </div>
)
