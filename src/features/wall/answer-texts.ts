// What the mail with an answer says around it, in the languages of walls. {…} is filled in.
import type { Language } from '../../lib/languages.ts'

type AnswerTexts = { subject: string; intro: string; back: string; why: string }

export const ANSWER_TEXTS: Record<Language, AnswerTexts> = {
  en: {
    subject: '{app}: answer to your question',
    intro: 'You asked {app} for help. The answer:',
    back: 'To reply, open the offers in {app} again and choose “{help}”.',
    why: 'This address was given with a question to {app}. Only answers to it are sent here. If you did not ask, ignore this email.',
  },
  de: {
    subject: '{app}: Antwort auf deine Frage',
    intro: 'Du hast {app} um Hilfe gebeten. Die Antwort:',
    back: 'Um zu antworten, öffne die Angebote in {app} erneut und wähle „{help}“.',
    why: 'Diese Adresse wurde bei einer Frage an {app} angegeben. Hierher gehen nur Antworten darauf. Wenn du nicht gefragt hast, ignoriere diese E-Mail.',
  },
  es: {
    subject: '{app}: respuesta a tu pregunta',
    intro: 'Pediste ayuda a {app}. La respuesta:',
    back: 'Para responder, abre de nuevo las ofertas en {app} y elige «{help}».',
    why: 'Esta dirección se indicó en una pregunta a {app}. Aquí solo se envían respuestas a ella. Si no preguntaste nada, ignora este correo.',
  },
  fr: {
    subject: '{app} : réponse à votre question',
    intro: 'Vous avez demandé de l’aide à {app}. La réponse :',
    back: 'Pour répondre, ouvrez à nouveau les offres dans {app} et choisissez « {help} ».',
    why: 'Cette adresse a été indiquée avec une question à {app}. Seules les réponses à cette question y sont envoyées. Si vous n’avez rien demandé, ignorez cet e-mail.',
  },
  pt: {
    subject: '{app}: resposta à sua pergunta',
    intro: 'Você pediu ajuda a {app}. A resposta:',
    back: 'Para responder, abra novamente as ofertas em {app} e escolha “{help}”.',
    why: 'Este endereço foi informado em uma pergunta a {app}. Aqui chegam apenas respostas a ela. Se você não perguntou nada, ignore este e-mail.',
  },
  pl: {
    subject: '{app}: odpowiedź na Twoje pytanie',
    intro: 'Poproszono {app} o pomoc. Odpowiedź:',
    back: 'Aby odpisać, otwórz ponownie oferty w {app} i wybierz „{help}”.',
    why: 'Ten adres podano w pytaniu do {app}. Wysyłamy tu tylko odpowiedzi na nie. Jeśli to nie Twoje pytanie, zignoruj tę wiadomość.',
  },
  tr: {
    subject: '{app}: sorunuza yanıt',
    intro: '{app} uygulamasından yardım istediniz. Yanıt:',
    back: 'Yanıt yazmak için {app} içindeki teklifleri yeniden açın ve “{help}” seçeneğini seçin.',
    why: 'Bu adres {app} uygulamasına sorulan bir soruda verildi. Buraya yalnızca o soruya verilen yanıtlar gönderilir. Siz sormadıysanız bu e-postayı dikkate almayın.',
  },
  ar: {
    subject: '{app}: إجابة عن سؤالك',
    intro: 'طلبت المساعدة من {app}. الإجابة:',
    back: 'للرد، افتح العروض في {app} مرة أخرى واختر «{help}».',
    why: 'أُدخل هذا العنوان مع سؤال إلى {app}. لا تُرسل إليه سوى الإجابات عن ذلك السؤال. إذا لم تطرح سؤالًا، فتجاهل هذه الرسالة.',
  },
}
