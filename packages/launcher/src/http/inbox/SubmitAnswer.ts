import * as Effect from "effect/Effect"
import type { SignedIn, Submitted } from "../../people/Answers.ts"
import type { PeopleShape } from "../../people/People.ts"
import { answerError } from "./AnswerErrors.ts"
import { givenAnswer } from "./ItemAnswers.ts"

/** Stores an answer. A refusal says what the item is now. */
export const submitAnswer = Effect.fnUntraced(function* (
  { answers, inbox }: Pick<PeopleShape, "answers" | "inbox">,
  id: string,
  person: SignedIn,
  submitted: Submitted
) {
  const { given, state } = yield* Effect.catchTag(answers.submit(id, person, submitted), "AnswerRefused", ({ why }) =>
    Effect.flatMap(inbox.show(person, id, { scope: "own", isSeen: false }), (shown) =>
      Effect.fail(
        answerError(why, {
          id,
          newItem: shown?.row.new_item ?? undefined,
          reason: shown?.row.reason ?? undefined,
          isWithheld: shown?.isGivenWithheld ?? true
        })
      )
    )
  )
  if (given === undefined) return yield* Effect.die(new Error(`the answer of item ${id} is not stored`))
  return { id, state, given: givenAnswer(given, false) }
})
