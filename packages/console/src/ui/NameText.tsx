import { nameParts } from "../view/format/NameCut.ts"
import { UserText } from "./basics.tsx"

/** A name in one line. An ellipsis replaces the middle of a name that is too wide. */
export const NameText = ({ className = "", text }: { readonly text: string; readonly className?: string }) => {
  const [start, end] = nameParts(text)
  if (end === "") return <UserText text={text} className={`truncate ${className}`} />
  return (
    // One isolated text in its own direction, so that the parts of a right-to-left name are in its order.
    <bdi dir="auto" className={`flex min-w-0 ${className}`} title={text}>
      <span className="min-w-0 overflow-hidden text-ellipsis whitespace-pre">{start}</span>
      <span className="shrink-0 whitespace-pre">{end}</span>
    </bdi>
  )
}
