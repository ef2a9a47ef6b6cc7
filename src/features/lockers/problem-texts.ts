// Why a locker cannot be used, as visitors read it.
import type { Language } from '../../lib/languages.ts'

/** `stale`: the page was loaded too long ago, or the password or the rule about referrers has changed since. */
export type LockerProblem =
  | 'unknown'
  | 'disabled'
  | 'taken_down'
  | 'expired'
  | 'full'
  | 'referrer'
  | 'banned'
  | 'stale'
  | 'busy'
export type ProblemTexts = Record<LockerProblem, { title: string; text: string }>

const en: ProblemTexts = {
  unknown: { title: 'Nothing found here', text: 'Check the link, or ask the person who shared it.' },
  disabled: { title: 'This is not available right now', text: 'The owner has disabled it.' },
  taken_down: { title: 'This has been taken down', text: 'It violated the rules of this network.' },
  expired: { title: 'This link has expired', text: 'Ask the person who shared it for a new one.' },
  full: { title: 'This link has reached its limit', text: 'It could only be opened a limited number of times.' },
  referrer: { title: 'This link does not work from here', text: 'Open it from the page where it was published.' },
  banned: { title: 'You cannot unlock this', text: 'Offers are no longer available to you here.' },
  stale: { title: 'This page has expired', text: 'Reload it to continue.' },
  busy: { title: 'Please try again', text: 'Wait a minute, then reload this page.' },
}

const de: ProblemTexts = {
  unknown: { title: 'Hier ist nichts', text: 'Prüfe den Link, oder frage dort nach, wo du ihn gefunden hast.' },
  disabled: { title: 'Dies ist zurzeit nicht verfügbar', text: 'Der Besitzer hat es abgeschaltet.' },
  taken_down: { title: 'Dies wurde entfernt', text: 'Es hat gegen die Regeln dieses Netzwerks verstoßen.' },
  expired: { title: 'Dieser Link ist abgelaufen', text: 'Frage dort nach einem neuen, wo du ihn gefunden hast.' },
  full: { title: 'Dieser Link ist aufgebraucht', text: 'Er konnte nur einige Male geöffnet werden.' },
  referrer: { title: 'Dieser Link funktioniert von hier aus nicht', text: 'Öffne ihn auf der Seite, auf der er veröffentlicht wurde.' },
  banned: { title: 'Du kannst dies nicht freischalten', text: 'Angebote sind hier für dich nicht mehr verfügbar.' },
  stale: { title: 'Diese Seite ist abgelaufen', text: 'Lade sie neu, um fortzufahren.' },
  busy: { title: 'Bitte versuche es noch einmal', text: 'Warte eine Minute und lade diese Seite dann neu.' },
} // prettier-ignore

const es: ProblemTexts = {
  unknown: { title: 'Aquí no hay nada', text: 'Comprueba el enlace o pregunta donde lo encontraste.' },
  disabled: { title: 'Esto no está disponible ahora', text: 'Su propietario lo ha desactivado.' },
  taken_down: { title: 'Esto se ha retirado', text: 'Infringía las normas de esta red.' },
  expired: { title: 'Este enlace ha caducado', text: 'Pide uno nuevo donde lo encontraste.' },
  full: { title: 'Este enlace está agotado', text: 'Solo se podía abrir un número limitado de veces.' },
  referrer: { title: 'Este enlace no funciona desde aquí', text: 'Ábrelo desde la página donde se publicó.' },
  banned: { title: 'No puedes desbloquear esto', text: 'Las ofertas ya no están disponibles para ti aquí.' },
  stale: { title: 'Esta página ha caducado', text: 'Vuelve a cargarla para continuar.' },
  busy: { title: 'Inténtalo de nuevo', text: 'Espera un minuto y vuelve a cargar esta página.' },
}

const fr: ProblemTexts = {
  unknown: { title: 'Il n’y a rien ici', text: 'Vérifiez le lien, ou demandez là où vous l’avez trouvé.' },
  disabled: { title: 'Ceci n’est pas disponible pour le moment', text: 'Son propriétaire l’a désactivé.' },
  taken_down: { title: 'Ceci a été retiré', text: 'Cela enfreignait les règles de ce réseau.' },
  expired: { title: 'Ce lien a expiré', text: 'Demandez-en un nouveau là où vous l’avez trouvé.' },
  full: { title: 'Ce lien est épuisé', text: 'Il ne pouvait être ouvert qu’un certain nombre de fois.' },
  referrer: {
    title: 'Ce lien ne fonctionne pas depuis cette page',
    text: 'Ouvrez-le depuis la page où il a été publié.',
  },
  banned: { title: 'Vous ne pouvez pas débloquer ceci', text: 'Les offres ne vous sont plus proposées ici.' },
  stale: { title: 'Cette page a expiré', text: 'Rechargez-la pour continuer.' },
  busy: { title: 'Veuillez réessayer', text: 'Attendez une minute, puis rechargez cette page.' },
}

const pt: ProblemTexts = {
  unknown: { title: 'Não há nada aqui', text: 'Confira o link ou pergunte onde o encontrou.' },
  disabled: { title: 'Isto não está disponível agora', text: 'O proprietário desativou.' },
  taken_down: { title: 'Isto foi removido', text: 'Violava as regras desta rede.' },
  expired: { title: 'Este link expirou', text: 'Peça um novo onde o encontrou.' },
  full: { title: 'Este link se esgotou', text: 'Só podia ser aberto um número limitado de vezes.' },
  referrer: { title: 'Este link não funciona a partir daqui', text: 'Abra-o na página em que foi publicado.' },
  banned: { title: 'Você não pode desbloquear isto', text: 'As ofertas não estão mais disponíveis para você aqui.' },
  stale: { title: 'Esta página expirou', text: 'Recarregue-a para continuar.' },
  busy: { title: 'Tente de novo', text: 'Espere um minuto e recarregue esta página.' },
}

const pl: ProblemTexts = {
  unknown: { title: 'Tu niczego nie ma', text: 'Sprawdź link lub zapytaj tam, skąd pochodzi.' },
  disabled: { title: 'To jest teraz niedostępne', text: 'Właściciel to wyłączył.' },
  taken_down: { title: 'To zostało usunięte', text: 'Naruszało zasady tej sieci.' },
  expired: { title: 'Ten link wygasł', text: 'Poproś o nowy tam, skąd pochodzi.' },
  full: { title: 'Ten link został wykorzystany', text: 'Można go było otworzyć tylko określoną liczbę razy.' },
  referrer: { title: 'Ten link nie działa z tego miejsca', text: 'Otwórz go na stronie, na której go opublikowano.' },
  banned: { title: 'Nie możesz tego odblokować', text: 'Oferty nie są już tutaj dla Ciebie dostępne.' },
  stale: { title: 'Ta strona wygasła', text: 'Wczytaj ją ponownie, aby kontynuować.' },
  busy: { title: 'Spróbuj ponownie', text: 'Poczekaj minutę i wczytaj tę stronę ponownie.' },
}

const tr: ProblemTexts = {
  unknown: { title: 'Burada bir şey yok', text: 'Bağlantıyı kontrol et veya bulduğun yere sor.' },
  disabled: { title: 'Bu şu anda kullanılamıyor', text: 'Sahibi kapattı.' },
  taken_down: { title: 'Bu kaldırıldı', text: 'Bu ağın kurallarına aykırıydı.' },
  expired: { title: 'Bu bağlantının süresi doldu', text: 'Bulduğun yerden yenisini iste.' },
  full: { title: 'Bu bağlantı tükendi', text: 'Yalnızca belirli sayıda açılabiliyordu.' },
  referrer: { title: 'Bu bağlantı buradan çalışmıyor', text: 'Yayımlandığı sayfadan aç.' },
  banned: { title: 'Bunun kilidini açamazsın', text: 'Teklifler burada artık senin için kullanılamıyor.' },
  stale: { title: 'Bu sayfanın süresi doldu', text: 'Devam etmek için yeniden yükle.' },
  busy: { title: 'Lütfen yeniden dene', text: 'Bir dakika bekle, sonra bu sayfayı yeniden yükle.' },
}

const ar: ProblemTexts = {
  unknown: { title: 'لا يوجد شيء هنا', text: 'تحقق من الرابط أو اسأل حيث وجدته.' },
  disabled: { title: 'هذا غير متاح الآن', text: 'أوقفه مالكه.' },
  taken_down: { title: 'تمت إزالة هذا', text: 'خالف قواعد هذه الشبكة.' },
  expired: { title: 'انتهت صلاحية هذا الرابط', text: 'اطلب رابطًا جديدًا حيث وجدته.' },
  full: { title: 'استُنفد هذا الرابط', text: 'كان يمكن فتحه عددًا محدودًا من المرات فقط.' },
  referrer: { title: 'لا يعمل هذا الرابط من هنا', text: 'افتحه من الصفحة التي نُشر فيها.' },
  banned: { title: 'لا يمكنك فتح هذا', text: 'لم تعد العروض متاحة لك هنا.' },
  stale: { title: 'انتهت صلاحية هذه الصفحة', text: 'أعد تحميلها للمتابعة.' },
  busy: { title: 'حاول مرة أخرى', text: 'انتظر دقيقة ثم أعد تحميل هذه الصفحة.' },
}

export const PROBLEM_TEXTS: Record<Language, ProblemTexts> = { en, de, es, fr, pt, pl, tr, ar }
